package jsmf

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/internal/vec"
)

// A name is made of nameWords words at most, separated by nameSeparator, from the nameChoice best
// words of a topic.
const (
	nameWords     = 3
	nameChoice    = 10
	nameSeparator = " · "
)

// Name returns the name of topic k: see Names.
func (m *Model) Name(k int) string {
	m.checkTopic(k)
	return m.names()[k]
}

// Names returns a name for each topic, no two alike: that given by the user ([Model.With]), or else
// two or three of its best words or phrases (TopWords), best first, as in "god · jesus · bible". A word
// is in one name if it can, that of the topic where it weighs most. No name has two forms of a word, such
// as "drive" and "drives", or a word of one letter, unless the topic has no others. A phrase, such as
// "interest rates", takes the place of a word of it that weighs no more than twice as much. Topics that
// cannot be told apart by their words get a number. In a model with a Tree, topics of several groups of the
// finest level may have a word in common.
func (m *Model) Names() []string { return slices.Clone(m.names()) }

// A Namer makes a name of what is known of a topic: of its 15 best words, its verdict if there is one
// (Additions.Verdicts), the ids of the ten documents with most of it, the largest share first, if the model has
// any (Additions.Documents), and the names that other topics have been given. "" leaves the topic the name it has.
type Namer func(ctx context.Context, t Topic, documents, taken []string) (string, error)

// NameBy returns the model with names by namer, as if a person had given them ([Additions].Names). It is asked
// for one topic after the other, by their numbers, but for those that have been given a name. Errors are those of namer, and a name
// that another topic has; both say which topic.
func (m *Model) NameBy(ctx context.Context, namer Namer) (_ *Model, err error) {
	defer while("name", &err)
	names := slices.Clone(m.add.Names)
	if names == nil {
		names = make([]string, m.k)
	}
	for _, t := range m.Summary(namerWords) {
		if names[t.Number] != "" {
			continue
		}
		var documents []string
		if c := m.add.Documents; c != nil {
			for _, d := range vec.Top(len(c.IDs), namerDocuments, func(d int) float64 { return c.W.At(d, t.Number) }) {
				if c.Explained(d) {
					documents = append(documents, c.IDs[d])
				}
			}
		}
		taken := slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s == "" })
		s, err := namer(ctx, t, documents, taken)
		if err == nil && slices.Contains(taken, s) {
			err = fmt.Errorf("%q is the name of another topic", s)
		}
		if err != nil {
			return nil, fmt.Errorf("topic %d: %w", t.Number, err)
		}
		names[t.Number] = s
	}
	return m.With(Additions{Names: names})
}

const namerWords, namerDocuments = 15, 10 // that a Namer is told of a topic

// cloneNames copies names, nil if there are none.
func cloneNames(names []string) []string {
	if !slices.ContainsFunc(names, func(s string) bool { return s != "" }) {
		return nil
	}
	return slices.Clone(names)
}

// nameAs gives m, the topics of which al has matched with those of prev and order put in order, the
// names that the user has given those of prev.
func (m *Model) nameAs(prev *Model, al *Alignment, order []int) {
	if prev.add.Names == nil {
		return
	}
	names := make([]string, m.k)
	copy(names, m.add.Names)
	for t, l := range order {
		if k := al.Prev[l]; k >= 0 && names[t] == "" && !slices.Contains(al.New, l) && !slices.Contains(names, prev.add.Names[k]) {
			names[t] = prev.add.Names[k]
		}
	}
	m.setNames(names)
}

// makeNames makes the names.
func (m *Model) makeNames() []string {
	type candidate struct {
		topic int
		WordProb
	}
	var all []candidate
	folded := make(map[int][][]rune) // the parts of a phrase, or a word
	for k := range m.k {
		for _, w := range m.namable(k) {
			if folded[w.Index] == nil {
				for _, part := range m.parts(w.Word) {
					folded[w.Index] = append(folded[w.Index], fold(part))
				}
			}
			all = append(all, candidate{k, w})
		}
	}
	// By weight, so that the order of topics does not matter.
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(b.Prob, a.Prob), cmp.Compare(a.Index, b.Index))
	})
	parts := make([][]WordProb, m.k)
	add := func(x candidate) bool {
		p := parts[x.topic]
		if len(p) == nameWords || slices.ContainsFunc(p, func(w WordProb) bool { return share(folded[w.Index], folded[x.Index]) }) {
			return false
		}
		parts[x.topic] = append(p, x.WordProb)
		return true
	}
	family, used := m.families(), make(map[[2]int]bool)
	for _, x := range all {
		if at := [2]int{family[x.topic], x.Index}; !used[at] && add(x) {
			used[at] = true
		}
	}
	for _, x := range all { // where others have taken the words, share them
		if len(parts[x.topic]) < 2 {
			add(x)
		}
	}
	return m.joined(parts)
}

// namable returns the words that may name topic k: those among its best that have two letters or
// more, or all of them if none has. A word gives way to a phrase of it that weighs half as much or more.
func (m *Model) namable(k int) []WordProb {
	best := m.TopWords(k, nameChoice)
	long := slices.DeleteFunc(slices.Clone(best), func(w WordProb) bool {
		first := strings.IndexFunc(w.Word, unicode.IsLetter)
		return first == strings.LastIndexFunc(w.Word, unicode.IsLetter) || slices.ContainsFunc(best, func(p WordProb) bool {
			parts := m.parts(p.Word)
			return len(parts) > 1 && 2*p.Weight >= w.Weight && slices.Contains(parts, w.Word)
		})
	})
	if len(long) > 0 {
		return long
	}
	return best
}

// joined makes names of the words, and puts those of the user in their places.
func (m *Model) joined(parts [][]WordProb) []string {
	names, taken := make([]string, m.k), make(map[string]bool)
	for k, s := range m.add.Names {
		names[k], taken[s] = s, s != ""
	}
	for k, words := range parts {
		if names[k] != "" {
			continue
		}
		slices.SortStableFunc(words, func(a, b WordProb) int {
			return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Index, b.Index))
		})
		var list []string
		for _, w := range words {
			if s := oneLine(strings.Join(m.parts(w.Word), " ")); s != "" {
				list = append(list, s)
			}
		}
		plain := cmp.Or(strings.Join(list, nameSeparator), "topic")
		name := plain
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s (%d)", plain, n)
		}
		names[k], taken[name] = name, true
	}
	return names
}

// parts returns the words of a phrase, or a word.
func (m *Model) parts(word string) []string {
	if m.prov.Text != nil && m.prov.Text.Phrases != nil {
		return strings.Split(word, text.PhraseJoiner)
	}
	return []string{word}
}

// share reports whether two phrases, folded, look as if they had a word in common.
func share(a, b [][]rune) bool {
	return slices.ContainsFunc(a, func(x []rune) bool {
		return slices.ContainsFunc(b, func(y []rune) bool { return sameWord(x, y) })
	})
}

// sameWord reports whether two folded words look like forms of one word, in languages that put
// their endings last. They do if they are equal, if they begin alike for 4 letters and 55 % of the
// longer word or more ("studies", "study"), if the shorter of 4 letters or more begins the longer,
// which has at most 4 more ("swim", "swimming"), if the shorter of 3 letters begins the longer,
// which has at most 3 more ("god", "gods"), or if all but the last of its letters, 3 or more, do
// and 2 or 3 others follow ("city", "cities"). Words with other beginnings ("mouse", "mice") are
// missed, and some strangers ("policy", "police") are taken for one word: a name then does with
// another word.
func sameWord(a, b []rune) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	alike := 0
	for alike < len(a) && a[alike] == b[alike] {
		alike++
	}
	switch {
	case alike == len(b):
		return true
	case alike >= 4 && 20*alike >= 11*len(b):
		return true
	case alike >= 4 && alike == len(a) && len(b)-alike <= 4:
		return true
	case alike >= 3 && alike == len(a):
		return len(b)-alike <= 3
	}
	return alike >= 3 && alike == len(a)-1 && len(b)-alike >= 2 && len(b)-alike <= 3
}

// Letters that change their marks with the form of a word, as in German plurals, or that are often
// written without, and the same letters without marks.
const (
	marked   = "àáâãäåçèéêëìíîïñòóôõöøùúûüýÿąćęłńśźżčďěňřšťůžё"
	unmarked = "aaaaaaceeeeiiiinoooooouuuuyyacelnszzcdenrstuzе"
)

// fold returns a word in lower case and without marks.
func fold(s string) []rune {
	out := make([]rune, 0, utf8.RuneCountInString(s))
	for _, r := range s {
		r = unicode.ToLower(r)
		if i := strings.IndexRune(marked, r); i >= 0 {
			r = []rune(unmarked)[utf8.RuneCountInString(marked[:i])]
		}
		if !unicode.Is(unicode.Mn, r) { // not a mark by itself
			out = append(out, r)
		}
	}
	return out
}

// A topic is background if it fills next to no document by itself: of what documents have of it, less than
// backgroundAlone, and less than half of the median topic's part, is in documents of which it has more than
// half. It is background, too, if it is spread over more than backgroundAll of all documents. In both cases
// the documents that have its words must be backgroundWords times as many as for the median topic, and it
// must be spread over backgroundSpread times as many. METHODS.md says what was measured.
const (
	backgroundAlone  = 0.1
	backgroundAll    = 0.5
	backgroundWords  = 2
	backgroundSpread = 1.4
)

// markBackground finds the background topics of a model, and takes words of which most occurrences are in
// these from the reading weights of the others. alone is refine.Result.Alone.
func (m *Model) markBackground(info corpus.Info, alone []float64) {
	df, docs := info.DocFrequencies, info.Documents
	n, k := m.n, m.k
	if len(df) != n || docs < 1 || m.reading == nil {
		return // not counted documents, or not refined on them
	}
	weights := mat.NewDense(n, k, m.reading)
	if m.background = backgroundTopics(weights, mat.NewDense(k, k, m.corr), df, docs, alone); m.background == nil {
		return
	}
	sums := make([]float64, k)
	m.eachWord(func(i int, of []float64) {
		row, within := weights.RawRowView(i), 0.0
		for t, background := range m.background {
			if background {
				within += of[t]
			}
		}
		for t := range row {
			if !m.background[t] && within > 0.5 {
				row[t] = 0
			}
			sums[t] += row[t]
		}
	})
	for i := range n {
		row := weights.RawRowView(i)
		for t, sum := range sums {
			if sum > 0 {
				row[t] /= sum
			}
		}
	}
}

// backgroundTopics returns which topics are background, nil if none is. weights is N×K and ranks
// the words of each topic, a is K×K; df are the document frequencies of the N words in docs
// documents, and alone is refine.Result.Alone, without which none is known.
//
// The part of the documents over which topic k is spread is E[θ_k]²/E[θ_k²] = a_k²/A_kk for a
// topic's proportions θ_k in the documents: 1 if all documents have as much of it, s if a part s of
// them has it all.
func backgroundTopics(weights, a *mat.Dense, df []int, docs int, alone []float64) []bool {
	n, k := weights.Dims()
	if len(alone) != k {
		return nil
	}
	words, mass, spread := make([]float64, k), make([]float64, k), make([]float64, k)
	for i := range n {
		for t, w := range weights.RawRowView(i) {
			mass[t] += w
			words[t] += w * float64(df[i]) / float64(docs)
		}
	}
	for t := range k {
		if mass[t] > 0 {
			words[t] /= mass[t]
		}
		if share := vec.Sum(a.RawRowView(t)); share > 0 && a.At(t, t) > 0 {
			spread[t] = share * share / a.At(t, t)
		}
	}
	middle := func(x []float64) float64 { return slices.Sorted(slices.Values(x))[k/2] }
	minWords, minSpread, maxAlone := backgroundWords*middle(words), backgroundSpread*middle(spread), min(backgroundAlone, middle(alone)/2)
	out := make([]bool, k)
	for t := range out {
		out[t] = words[t] > 0 && words[t] >= minWords && spread[t] >= minSpread && (alone[t] < maxAlone || spread[t] > backgroundAll)
	}
	if !slices.Contains(out, true) {
		return nil
	}
	return out
}
