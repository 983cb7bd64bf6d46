package corpus

import (
	"fmt"
	"hash/maphash"
)

// idSet finds ids that come twice. It holds 16 bytes of hash for each, some 50 with the room of a
// map to grow, not the ids: two ids are taken for one with a probability of 2⁻¹²⁸.
type idSet struct {
	seeds [2]maphash.Seed
	seen  map[[2]uint64]mark
	files []string

	copies bool // documents may have the ids of others (Description.Copies): none is looked at
}

// mark is a place, or the number of a document if file is 0.
type mark struct{ file, line uint32 }

// add adds the id of a document, whose number counts from 1. It is an error if another has it.
func (s *idSet) add(d *Document, number int) error {
	if d.ID == "" || s.copies {
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
		if d.Place.File != "" {
			return d.Place.at(err)
		}
		return fmt.Errorf("corpus: document %d: %w", number, err)
	}
	m := mark{line: uint32(number)}
	if d.Place.File != "" {
		if n := len(s.files); n == 0 || s.files[n-1] != d.Place.File {
			s.files = append(s.files, d.Place.File)
		}
		m = mark{uint32(len(s.files)), uint32(d.Place.Line)}
	}
	s.seen[key] = m
	return nil
}

// remove forgets the id of a document that was added.
func (s *idSet) remove(d *Document) {
	if d.ID != "" && !s.copies {
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
			d.Place = Place{file, m + 1}
		}
		if err := s.add(&d, m+1); err != nil {
			return err
		}
	}
	return nil
}
