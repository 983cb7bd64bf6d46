package text

import (
	"hash/maphash"
	"slices"
	"strings"
)

// wordTable numbers words from 0, as they come. It is a hash table of its own because
// finding phrases looks up every word of every document in each round.
type wordTable struct {
	list  []wordCount
	slots []wordSlot
	seed  maphash.Seed
}

// wordCount is a word and what is counted of it: its occurrences n in all and here in the
// document last, the sum over documents of the squares of their occurrences, and the sum
// over occurrences of the length of their document.
type wordCount struct {
	word                            string
	n, last, here, squares, lengths int64
}

type wordSlot struct {
	tag uint32 // of the hash
	id  int32  // counted from 1; 0: empty
}

func newWordTable(words int) *wordTable {
	size := 64
	for size < 2*words {
		size *= 2
	}
	return &wordTable{slots: make([]wordSlot, size), seed: maphash.MakeSeed()}
}

// find returns the number of a word, −1 if the table lacks it, and its slot.
func (t *wordTable) find(word string) (id int32, slot *wordSlot, tag uint32) {
	h := maphash.String(t.seed, word)
	tag = uint32(h >> 32)
	for i := int(uint32(h)) & (len(t.slots) - 1); ; i = (i + 1) & (len(t.slots) - 1) {
		s := &t.slots[i]
		if s.id == 0 || s.tag == tag && t.list[s.id-1].word == word {
			return s.id - 1, s, tag
		}
	}
}

// findAll appends the numbers of words, −1 for those that the table lacks. It does each step
// for many words at once, so that the processor waits for their memory at the same time.
func (t *wordTable) findAll(dst []int32, words []string) []int32 {
	var hashes [64]uint64
	var slots [64]wordSlot
	for len(words) > 0 {
		n := min(len(words), len(hashes))
		for i, w := range words[:n] {
			hashes[i] = maphash.String(t.seed, w)
		}
		mask := len(t.slots) - 1
		for i, h := range hashes[:n] {
			slots[i] = t.slots[int(uint32(h))&mask]
		}
		for i, w := range words[:n] {
			s := slots[i]
			if s.id > 0 && (s.tag != uint32(hashes[i]>>32) || t.list[s.id-1].word != w) {
				s.id, _, _ = t.find(w)
				s.id++
			}
			dst = append(dst, s.id-1)
		}
		words = words[n:]
	}
	return dst
}

// add returns the number of a word, which it adds if the table lacks it.
func (t *wordTable) add(word string) int32 {
	id, slot, tag := t.find(word)
	if id >= 0 {
		return id
	}
	if 2*len(t.list) >= len(t.slots) {
		t.rebuild(2 * len(t.list))
		_, slot, tag = t.find(word) // the hash is another one
	}
	word = strings.Clone(word) // it may be a piece of a whole document
	t.list = append(t.list, wordCount{word: word})
	*slot = wordSlot{tag, int32(len(t.list))}
	return int32(len(t.list)) - 1
}

// forget forgets the rarest words, at least half of all, and returns how often the most
// frequent of these was counted. The numbers of the others change.
func (t *wordTable) forget() int64 {
	least := median(t.list, func(c wordCount) int64 { return c.n })
	t.list = slices.DeleteFunc(t.list, func(c wordCount) bool { return c.n <= least })
	t.rebuild(0)
	return least
}

// pack moves the words side by side in their order, which makes finding frequent ones
// faster if these come first.
func (t *wordTable) pack() {
	var b strings.Builder
	for _, c := range t.list {
		b.WriteString(c.word)
	}
	all := b.String()
	for i := range t.list {
		n := len(t.list[i].word)
		t.list[i].word, all = all[:n], all[n:]
	}
}

// rebuild makes room for a number of words.
func (t *wordTable) rebuild(words int) {
	list := t.list
	*t = *newWordTable(max(words, len(list)))
	t.list = list
	for i, c := range list {
		_, slot, tag := t.find(c.word)
		*slot = wordSlot{tag, int32(i) + 1}
	}
}

// pair is a key of two words and what stands between them: 28 bits, 8 bits, 28 bits. No
// pair of two different words is 0.
type pair uint64

func pairKey(x int32, between uint8, y int32) pair {
	return pair(x)<<36 | pair(between)<<28 | pair(y)
}

func (p pair) parts() (x int32, between uint8, y int32) {
	return int32(p >> 36), uint8(p >> 28), int32(p & (1<<28 - 1))
}

// pairTable counts pairs, at most limit of them: when it is full it forgets the rarest
// half.
type pairTable struct {
	slots  []pairCount
	shift  uint // of the hash
	used   int
	limit  int
	missed int64 // no count is too low by more than this
}

type pairCount struct {
	key pair
	n   int64
}

func newPairTable(limit int) pairTable {
	const bits = 12
	return pairTable{slots: make([]pairCount, 1<<bits), shift: 64 - bits, limit: limit}
}

// add counts a pair once more.
func (t *pairTable) add(key pair) {
	if e := t.slot(key); e.n > 0 {
		e.n++
		return
	}
	if t.used >= t.limit {
		least := median(t.slots, func(e pairCount) int64 { return e.n })
		t.missed += least
		t.rebuild(t.shift, least)
	} else if 2*t.used >= len(t.slots) {
		t.rebuild(t.shift-1, 0)
	}
	*t.slot(key) = pairCount{key, 1}
	t.used++
}

// slot returns the place of a pair, or the empty one where it would be put.
func (t *pairTable) slot(key pair) *pairCount {
	for i := uint64(key) * 0x9e3779b97f4a7c15 >> t.shift; ; i++ {
		e := &t.slots[i&uint64(len(t.slots)-1)]
		if e.key == key || e.n == 0 {
			return e
		}
	}
}

// rebuild moves the pairs that were counted more than least times to a table of another
// size.
func (t *pairTable) rebuild(shift uint, least int64) {
	old := t.slots
	t.slots, t.shift, t.used = make([]pairCount, 1<<(64-shift)), shift, 0
	for _, e := range old {
		if e.n > least {
			*t.slot(e.key) = e
			t.used++
		}
	}
}

// median returns the middle one of the counts above 0.
func median[T any](list []T, count func(T) int64) int64 {
	n := make([]int64, 0, len(list))
	for _, x := range list {
		if c := count(x); c > 0 {
			n = append(n, c)
		}
	}
	slices.Sort(n)
	return n[(len(n)-1)/2]
}
