package corpus

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strconv"

	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/vec"
)

const (
	// A block has at most MaxBlockDocs documents and MaxBlockNonzeros pairs of a document and a
	// word in it; a document with more is a block of its own. A block this small stays in a
	// cache of the processor, and even a small corpus has enough of them for many goroutines.
	// Files may hold other blocks.
	MaxBlockDocs     = 1 << 12
	MaxBlockNonzeros = 1 << 13

	// MaxCount is the largest number of times a word may occur in one document.
	MaxCount = bag.MaxCount
)

// castagnoli makes the checksums of encoded files.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Block is a sequence of documents of an Encoded. The zero value is ready for
// [Encoded.Block].
type Block struct {
	First int // number of the first document, from 0

	// The words of document d of the block are Words[Ptr[d]:Ptr[d+1]], ascending, each once,
	// and Counts says how often they occur.
	Ptr           []int
	Words, Counts []int32

	ids, labels strs
	raw         []byte
}

// renumber gives the words other numbers, in the same order.
func (b *Block) renumber(to []int32) error {
	for i, w := range b.Words {
		if b.Words[i] = to[w]; to[w] < 0 {
			return fmt.Errorf("%w: it holds word %d, which is in no document", ErrDamaged, w)
		}
	}
	return nil
}

// Docs returns the number of documents.
func (b *Block) Docs() int { return len(b.Ptr) - 1 }

// Doc returns the words of document d of the block and how often each occurs.
func (b *Block) Doc(d int) (words, counts []int32) {
	lo, hi := b.Ptr[d], b.Ptr[d+1]
	return b.Words[lo:hi:hi], b.Counts[lo:hi:hi]
}

// ID returns the id of document d of the block, "" where it has none.
func (b *Block) ID(d int) string { return string(b.ids.at(d)) }

// Name returns the id of document d of the block, or its number, from 1, if it has none.
func (b *Block) Name(d int) string { return cmp.Or(b.ID(d), strconv.Itoa(b.First+d+1)) }

// Label returns the label of document d of the block, "" where it has none.
func (b *Block) Label(d int) string { return string(b.labels.at(d)) }

// Key returns a number made from the id of document d of the block, or, if it has none, from its
// number in the corpus, counted from 1. The bits are as good as random and the same on every
// machine, so that they can choose documents or seed random numbers.
func (b *Block) Key(d int) uint64 {
	return bag.Key(b.ids.at(d), b.First+d+1)
}

// strs are strings of documents; none if there are no ends.
type strs struct {
	ends []int
	text []byte
}

func (s *strs) at(d int) []byte {
	if len(s.ends) == 0 {
		return nil
	}
	lo := 0
	if d > 0 {
		lo = s.ends[d-1]
	}
	return s.text[lo:s.ends[d]]
}

// Flags of a block.
const (
	blockIDs = 1 << iota
	blockLabels
)

// The words of a document are coded by their gaps, word − previous word − 1, and their counts by
// count − 1. A document has a form: the width of its gaps in bytes, 1, 2 or 4, plus 16 times
// that of its counts, 0 if all are 1. So decoding takes no branch for each word.

// width returns the width of numbers in bytes; all has the bits of all of them.
func width(all uint32) int {
	switch {
	case all < 1<<8:
		return 1
	case all < 1<<16:
		return 2
	}
	return 4
}

// appendNumbers appends numbers in w bytes each.
func appendNumbers(b []byte, x []uint32, w int) []byte {
	switch w {
	case 1:
		for _, v := range x {
			b = append(b, byte(v))
		}
	case 2:
		for _, v := range x {
			b = binary.LittleEndian.AppendUint16(b, uint16(v))
		}
	case 4:
		for _, v := range x {
			b = binary.LittleEndian.AppendUint32(b, v)
		}
	}
	return b
}

// packer makes the bytes of a block.
type packer struct {
	entry          blockEntry
	lengths, forms []byte
	ids, labels    packedStrings
	data           []byte
	out            []byte
	gaps, excesses []uint32
}

// packedStrings are strings, one a document.
type packedStrings struct{ lengths, text []byte }

func (s *packedStrings) add(t string) {
	s.lengths = binary.AppendUvarint(s.lengths, uint64(len(t)))
	s.text = append(s.text, t...)
}

func (s *packedStrings) reset() { s.lengths, s.text = s.lengths[:0], s.text[:0] }

// full reports whether a document with this number of pairs needs another block.
func (p *packer) full(pairs int) bool {
	return p.entry.docs == MaxBlockDocs || p.entry.docs > 0 && p.entry.pairs+pairs > MaxBlockNonzeros
}

// add appends a document. Its words are ascending.
func (p *packer) add(id, label string, words, counts []int32) {
	p.ids.add(id)
	p.labels.add(label)
	p.lengths = binary.AppendUvarint(p.lengths, uint64(len(words)))
	p.gaps, p.excesses = vec.Resize(p.gaps, len(words)), vec.Resize(p.excesses, len(words))
	last, allGaps, allExcesses, tokens := int32(-1), uint32(0), uint32(0), int64(0)
	for i, w := range words {
		g, x := uint32(w-last-1), uint32(counts[i]-1)
		last = w
		allGaps |= g
		allExcesses |= x
		tokens += int64(counts[i])
		p.gaps[i], p.excesses[i] = g, x
	}
	gap, excess := width(allGaps), 0
	if allExcesses > 0 {
		excess = width(allExcesses)
	}
	p.forms = append(p.forms, byte(gap|excess<<4))
	p.data = appendNumbers(appendNumbers(p.data, p.gaps, gap), p.excesses, excess)
	p.entry.docs++
	p.entry.pairs += len(words)
	p.entry.tokens += tokens
}

// block returns the bytes of the block and begins the next one. They are valid until the
// next call.
func (p *packer) block() ([]byte, blockEntry) {
	flags := byte(0)
	if len(p.ids.text) > 0 {
		flags |= blockIDs
	}
	if len(p.labels.text) > 0 {
		flags |= blockLabels
	}
	b := append(p.out[:0], flags)
	b = append(append(b, p.lengths...), p.forms...)
	for _, s := range []*packedStrings{&p.ids, &p.labels} {
		if len(s.text) > 0 {
			b = append(append(b, s.lengths...), s.text...)
		}
		s.reset()
	}
	p.out = append(b, p.data...)
	e := p.entry
	e.size, e.crc = int64(len(p.out)), crc32.Checksum(p.out, castagnoli)
	p.lengths, p.forms, p.data = p.lengths[:0], p.forms[:0], p.data[:0]
	p.entry = blockEntry{at: e.at + e.size, first: e.first + e.docs}
	return p.out, e
}

// minSize returns how many bytes a block has at least.
func minSize(docs, pairs int64) int64 { return 1 + 2*docs + pairs }

// unpack reads the bytes of a block with n different words at most, which must not change while
// b is in use. Whatever they hold, the result is valid or there is an error.
func (b *Block) unpack(raw []byte, e *blockEntry, n int) error {
	flags, at := raw[0], 1
	b.Ptr = vec.Resize(b.Ptr, e.docs+1)
	b.Ptr[0] = 0
	at, ok := ends(raw, at, e.pairs, b.Ptr[1:])
	if !ok || b.Ptr[e.docs] != e.pairs {
		return fmt.Errorf("%w: lengths of documents", ErrDamaged)
	}
	if len(raw)-at < e.docs {
		return fmt.Errorf("%w: forms of documents", ErrDamaged)
	}
	forms := raw[at : at+e.docs]
	at += e.docs
	b.ids.ends, b.labels.ends = b.ids.ends[:0], b.labels.ends[:0]
	if flags&blockIDs != 0 {
		if at, ok = b.ids.unpack(raw, at, e.docs); !ok {
			return fmt.Errorf("%w: ids", ErrDamaged)
		}
	}
	if flags&blockLabels != 0 {
		if at, ok = b.labels.unpack(raw, at, e.docs); !ok {
			return fmt.Errorf("%w: labels", ErrDamaged)
		}
	}
	if flags&^(blockIDs|blockLabels) != 0 {
		return fmt.Errorf("%w: flags", ErrDamaged)
	}
	b.Words, b.Counts = vec.Resize(b.Words, e.pairs), vec.Resize(b.Counts, e.pairs)
	return b.documents(forms, raw[at:], n, e.tokens)
}

// unpack reads the strings of one or more documents from raw[at:]. It returns the place behind
// them, and whether they are there.
func (s *strs) unpack(raw []byte, at, docs int) (int, bool) {
	s.ends = vec.Resize(s.ends, docs)
	at, ok := ends(raw, at, len(raw), s.ends)
	size := s.ends[docs-1]
	if !ok || size > len(raw)-at {
		return 0, false
	}
	s.text = raw[at : at+size]
	return at + size, true
}

// ends reads lengths from raw[at:] and sets to to their sums, which may not exceed maxSum. It
// returns the place behind them, and whether they are there.
func ends(raw []byte, at, maxSum int, to []int) (int, bool) {
	sum := 0
	for i := range to {
		if at >= len(raw) {
			return 0, false
		}
		v, n := uint64(raw[at]), 1
		if v >= 0x80 {
			if v, n = binary.Uvarint(raw[at:]); n <= 0 {
				return 0, false
			}
		}
		at += n
		if v > uint64(maxSum-sum) {
			return 0, false
		}
		sum += int(v)
		to[i] = sum
	}
	return at, true
}

// documents decodes Words and Counts.
func (b *Block) documents(forms, data []byte, n int, tokens int64) error {
	sum := int64(0)
	for d, form := range forms {
		words, counts := b.Doc(d)
		gap, excess := int(form&15), int(form>>4)
		size := len(words) * (gap + excess)
		if size > len(data) {
			return fmt.Errorf("%w: document %d ends early", ErrDamaged, b.First+d+1)
		}
		last, ok := decodeWords(words, data, gap)
		if !ok || last >= int64(n) {
			return fmt.Errorf("%w: words of document %d", ErrDamaged, b.First+d+1)
		}
		x, ok := decodeCounts(counts, data[len(words)*gap:], excess)
		if !ok {
			return fmt.Errorf("%w: counts of document %d", ErrDamaged, b.First+d+1)
		}
		sum += x
		data = data[size:]
	}
	if len(data) > 0 || sum != tokens {
		return fmt.Errorf("%w: sum of counts", ErrDamaged)
	}
	return nil
}

// decodeWords decodes words from gaps of w bytes, which are there, and returns the last word, −1
// for none, and whether there is such a width. Words are ascending if the last is not too large.
func decodeWords(words []int32, data []byte, w int) (int64, bool) {
	last := int64(-1)
	switch w {
	case 1:
		data = data[:len(words)]
		for i, g := range data {
			last += int64(g) + 1
			words[i] = int32(last)
		}
	case 2:
		for i := range words {
			last += int64(binary.LittleEndian.Uint16(data[2*i:])) + 1
			words[i] = int32(last)
		}
	case 4:
		for i := range words {
			last += int64(binary.LittleEndian.Uint32(data[4*i:])) + 1
			words[i] = int32(last)
		}
	default:
		return 0, false
	}
	return last, true
}

// decodeCounts decodes counts less one of w bytes each, which are there. It returns the sum of
// the counts, and whether there is such a width and no count exceeds MaxCount.
func decodeCounts(counts []int32, data []byte, w int) (int64, bool) {
	sum := int64(len(counts))
	switch w {
	case 0:
		for i := range counts {
			counts[i] = 1
		}
	case 1:
		data = data[:len(counts)]
		for i, x := range data {
			counts[i] = int32(x) + 1
			sum += int64(x)
		}
	case 2:
		for i := range counts {
			x := binary.LittleEndian.Uint16(data[2*i:])
			counts[i] = int32(x) + 1
			sum += int64(x)
		}
	case 4:
		for i := range counts {
			x := binary.LittleEndian.Uint32(data[4*i:])
			if x >= MaxCount {
				return 0, false
			}
			counts[i] = int32(x) + 1
			sum += int64(x)
		}
	default:
		return 0, false
	}
	return sum, true
}
