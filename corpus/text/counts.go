package text

import (
	"hash/maphash"
	"math/bits"
	"slices"
	"strings"
)

// wordTable numbers words from 0, as they come. It is a hash table of its own because
// finding phrases looks up every word of every document in each round.
type wordTable struct {
	list  []wordCount
	slots []wordSlot
	shift uint // of the hash
	seed  maphash.Seed
	salt  uint64 // of this table, so that no text can be made to slow it down
}

// wordCount is a word and what is counted of it: its occurrences n in all and here in the
// document last, the sum over documents of the squares of their occurrences, and the sum
// over occurrences of the length of their document.
type wordCount struct {
	word                            string
	n, last, here, squares, lengths int64
}

// wordSlot is the key and the number of a word.
type wordSlot struct {
	wordKey
	id int32 // counted from 1; 0: empty
}

// wordKey is the bytes of a word of up to maxKey and its length, or a hash of a longer one,
// so that most words are found without looking at the words of the list.
type wordKey struct {
	lo uint64
	hi uint32 // the length times 1<<24, and up to three bytes
}

const (
	maxKey  = 11
	longKey = (maxKey + 1) << 24 // hi of longer words
)

func newWordTable(words int) *wordTable {
	const least = 6
	logSize := max(least, bits.Len(uint(2*words)))
	t := &wordTable{slots: make([]wordSlot, 1<<logSize), shift: 64 - uint(logSize), seed: maphash.MakeSeed()}
	t.salt = maphash.Comparable(t.seed, logSize)
	return t
}

// key returns the key of a word.
func (t *wordTable) key(w string) wordKey {
	n := len(w)
	switch {
	case n > maxKey:
		return wordKey{maphash.String(t.seed, w), longKey}
	case n >= 8:
		return wordKey{load8(w, 0), uint32(n)<<24 | load32(w[n-4:])>>8}
	case n >= 4:
		return wordKey{uint64(load32(w)) | uint64(load32(w[n-4:]))<<32, uint32(n) << 24}
	case n > 0:
		return wordKey{uint64(w[0]) | uint64(w[n/2])<<8 | uint64(w[n-1])<<16, uint32(n) << 24}
	}
	return wordKey{}
}

// load32 returns the first four bytes of s.
func load32(s string) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// slot returns the number of the slot at which the search for a key begins.
func (t *wordTable) slot(k wordKey) int {
	hi, lo := bits.Mul64(k.lo^t.salt, uint64(k.hi)^0x9e3779b97f4a7c15)
	return int((hi ^ lo) * 0x9e3779b97f4a7c15 >> t.shift)
}

// holds reports whether a slot that is in use is that of a word.
func (t *wordTable) holds(s *wordSlot, k wordKey, word string) bool {
	return s.wordKey == k && (k.hi != longKey || t.list[s.id-1].word == word)
}

// find returns the number of a word, −1 if the table lacks it, and its slot.
func (t *wordTable) find(word string) (id int32, slot *wordSlot) {
	k := t.key(word)
	for i := t.slot(k); ; i++ {
		s := &t.slots[i&(len(t.slots)-1)]
		if s.id == 0 || t.holds(s, k, word) {
			return s.id - 1, s
		}
	}
}

// findAll appends the numbers of words, −1 for those that the table lacks. It does each step
// for many words at once, so that the processor waits for their memory at the same time.
func (t *wordTable) findAll(dst []int32, words []string) []int32 {
	var keys [64]wordKey
	var slots [64]wordSlot
	for len(words) > 0 {
		n := min(len(words), len(keys))
		for i, w := range words[:n] {
			keys[i] = t.key(w)
		}
		for i := range words[:n] {
			slots[i] = t.slots[t.slot(keys[i])]
		}
		for i, w := range words[:n] {
			s := &slots[i]
			id := s.id - 1
			if id >= 0 && !t.holds(s, keys[i], w) {
				id, _ = t.find(w)
			}
			dst = append(dst, id)
		}
		words = words[n:]
	}
	return dst
}

// add returns the number of a word, which it adds if the table lacks it.
func (t *wordTable) add(word string) int32 {
	id, slot := t.find(word)
	if id >= 0 {
		return id
	}
	if 2*len(t.list) >= len(t.slots) {
		t.rebuild(2 * len(t.list))
		_, slot = t.find(word)
	}
	word = strings.Clone(word) // it may be a piece of a whole document
	t.list = append(t.list, wordCount{word: word})
	*slot = wordSlot{t.key(word), int32(len(t.list))}
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
		_, slot := t.find(c.word)
		*slot = wordSlot{t.key(c.word), int32(i) + 1}
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

// addAll counts pairs once more each, many at once as findAll does.
func (t *pairTable) addAll(keys []pair) {
	var at [64]uint32
	var seen [64]pair
	for len(keys) > 0 {
		n := min(len(keys), len(at))
		for i, k := range keys[:n] {
			at[i] = uint32(t.begin(k))
			seen[i] = t.slots[at[i]].key
		}
		for i, k := range keys[:n] {
			if e := &t.slots[at[i]]; seen[i] == k && e.key == k {
				e.n++
			} else {
				t.add(k)
			}
		}
		keys = keys[n:]
	}
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

// begin returns the number of the slot at which the search for a pair begins.
func (t *pairTable) begin(key pair) uint64 { return uint64(key) * 0x9e3779b97f4a7c15 >> t.shift }

// slot returns the place of a pair, or the empty one where it would be put.
func (t *pairTable) slot(key pair) *pairCount {
	for i := t.begin(key); ; i++ {
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
