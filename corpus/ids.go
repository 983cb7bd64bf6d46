package corpus

import (
	"fmt"
	"hash/maphash"
)

// place is where a document stands, for errors. The zero place is not known.
type place struct {
	file   string
	line   int
	repeat bool // its id may be that of another: it is a copy
}

// idSet finds ids that come twice. It holds 16 bytes of hash for each, not the ids: two
// different ids are taken for one with a probability of 2⁻¹²⁸ a pair. With the room of a
// map to grow that is some 50 bytes for each document that has an id.
type idSet struct {
	seeds [2]maphash.Seed
	seen  map[[2]uint64]mark
	files []string
}

// mark is a place, or the number of a document if file is 0.
type mark struct{ file, line uint32 }

// add takes note of the id of a document, whose number counts from 1. It is an error if
// another has that id.
func (s *idSet) add(d *Document, number int) error {
	if d.ID == "" || d.place.repeat {
		return nil
	}
	if s.seen == nil {
		s.seen, s.seeds = map[[2]uint64]mark{}, [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
	}
	key := s.key(d.ID)
	if first, ok := s.seen[key]; ok {
		where := fmt.Sprintf("document %d", first.line)
		if first.file > 0 {
			where = fmt.Sprintf("%s:%d", s.files[first.file-1], first.line)
		}
		err := fmt.Errorf("id %q %w, first at %s", d.ID, ErrRepeatedID, where)
		if d.place.file != "" {
			return &FileError{File: d.place.file, Line: d.place.line, Err: err}
		}
		return fmt.Errorf("corpus: document %d: %w", number, err)
	}
	m := mark{line: uint32(number)}
	if d.place.file != "" {
		if n := len(s.files); n == 0 || s.files[n-1] != d.place.file {
			s.files = append(s.files, d.place.file)
		}
		m = mark{uint32(len(s.files)), uint32(d.place.line)}
	}
	s.seen[key] = m
	return nil
}

// remove forgets the id of a document that was added.
func (s *idSet) remove(d *Document) {
	if d.ID != "" && !d.place.repeat {
		delete(s.seen, s.key(d.ID))
	}
}

func (s *idSet) key(id string) [2]uint64 {
	return [2]uint64{maphash.String(s.seeds[0], id), maphash.String(s.seeds[1], id)}
}

// checkIDs returns an error if an id comes twice. file has one on each line; "": they are
// not from a file.
func checkIDs(ids []string, file string) error {
	var s idSet
	for m, id := range ids {
		d := Document{ID: id}
		if file != "" {
			d.place = place{file: file, line: m + 1}
		}
		if err := s.add(&d, m+1); err != nil {
			return err
		}
	}
	return nil
}
