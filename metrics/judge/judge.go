// Package judge has topics judged by people or language models. [Make] writes tasks and, apart from them, the
// key; [Score] says from answers how good the topics are, and [Correct] corrects their shares. Tasks, keys and
// answers are plain values for encoding/json.
//
// The kinds of tasks:
//
//   - Words and Documents, intrusion: which of some words, or texts, does not belong to the others? It is from
//     another topic (Chang et al. 2009; Hoyle et al. 2021).
//   - Label: name the topic of some words and texts, then say how well other texts fit the name (Hoyle et
//     al. 2025). Ratings should rise with the proportions of the topic.
//   - Choose: which topic is this text about? The texts are drawn at random from all.
//
// Whoever judges must not see the key.
package judge

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// Kind is a kind of task.
type Kind string

const (
	Words     Kind = "words"
	Documents Kind = "documents"
	Label     Kind = "label"
	Choose    Kind = "choose"
)

// Task is what a judge sees.
type Task struct {
	ID      string   `json:"id"`
	Kind    Kind     `json:"kind"`
	Ask     string   `json:"ask"`
	Words   []string `json:"words,omitempty"` // of Label: the topic's
	Texts   []string `json:"texts,omitempty"` // of Label: the topic's; of Choose: the one to be judged
	Options []string `json:"options"`
}

// Key is what is true of a task.
type Key struct {
	ID       string    `json:"id"`
	Kind     Kind      `json:"kind"`
	Topic    int       `json:"topic"`              // 0 of Choose
	Options  int       `json:"options"`            // how many there are
	Right    int       `json:"right,omitempty"`    // of Words and Documents: the option that does not belong, from 1
	Shares   []float64 `json:"shares,omitempty"`   // of Label: of the topic in the options
	Document int       `json:"document,omitempty"` // of Choose
}

// Answer is what a judge says of a task. Several judges may answer the same one.
type Answer struct {
	ID      string    `json:"id"`
	Judge   string    `json:"judge,omitempty"`
	Choice  int       `json:"choice,omitempty"`  // an option, from 1; not of Label
	Label   string    `json:"label,omitempty"`   // of Label
	Ratings []float64 `json:"ratings,omitempty"` // of Label, one for each option
}

// Topics are K topics and M documents, of any program.
type Topics struct {
	Words  [][]string         // of each topic, best first, 20 for example; none of them is an intruder in it
	Shares *mat.Dense         // M×K, the proportions of topics in documents
	Text   func(d int) string // what a judge reads of a document
}

// The sizes of tasks.
const (
	shownWords = 5
	shownTexts = 3
	rated      = 8
	length     = 800 // characters of a text
	near       = 10  // intruders are among so many first words and documents of a topic
)

type maker struct {
	Topics
	seed  uint64
	m, k  int
	order [][]int // of each topic, the documents, most of it first
	tasks []Task
	keys  []Key
}

// Make returns a task of Words, Documents and Label for each topic, and one of Choose for each document of
// a sample. They are the same for the same arguments. Errors: topics that do not fit together, and
// too few words or documents.
func Make(t Topics, sample int, seed uint64) ([]Task, []Key, error) {
	x := &maker{Topics: t, seed: seed}
	if err := x.check(sample); err != nil {
		return nil, nil, fmt.Errorf("judge: %w", err)
	}
	var names []string
	for k, words := range t.Words {
		if err := x.intrude(k); err != nil {
			return nil, nil, fmt.Errorf("judge: %w", err)
		}
		x.label(k)
		names = append(names, strings.Join(words[:shownWords], ", "))
	}
	names = append(names, "none of these")
	for i, d := range x.rng(Choose, 0).Perm(x.m)[:sample] {
		x.add(Task{Kind: Choose, Ask: "Which of these is the text about most of all?", Texts: x.texts(d), Options: names}, Key{Document: d}, i)
	}
	return x.tasks, x.keys, nil
}

func (x *maker) check(sample int) error {
	if x.Shares == nil || x.Text == nil {
		return errors.New("no proportions of topics, or no texts")
	}
	x.m, x.k = x.Shares.Dims()
	if least := max(shownTexts+max(rated, near), sample); len(x.Topics.Words) != x.k || x.k < 2 || x.m < least || sample < 0 {
		return fmt.Errorf("words of %d topics, proportions of %d in %d documents, a sample of %d; want the same two or more, and %d documents", len(x.Topics.Words), x.k, x.m, sample, least)
	}
	for k, words := range x.Topics.Words {
		if len(words) < shownWords {
			return fmt.Errorf("topic %d has %d words, want %d", k, len(words), shownWords)
		}
		order := make([]int, x.m)
		for d := range order {
			order[d] = d
			if v := x.Shares.At(d, k); !(v >= 0 && v <= 1+1e-9) {
				return fmt.Errorf("the share of topic %d in document %d is %v", k, d, v)
			}
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x.Shares.At(b, k), x.Shares.At(a, k)) })
		x.order = append(x.order, order)
	}
	return nil
}

// rng returns the random numbers of the task of a kind for topic k.
func (x *maker) rng(kind Kind, k int) *rand.Rand {
	return rand.New(rand.NewPCG(x.seed, uint64(kind[0])<<32|uint64(k)))
}

func (x *maker) add(t Task, k Key, i int) {
	t.ID = fmt.Sprintf("%s-%d", t.Kind, i)
	k.ID, k.Kind, k.Options = t.ID, t.Kind, len(t.Options)
	x.tasks, x.keys = append(x.tasks, t), append(x.keys, k)
}

// intrude asks for a word of another topic, and for a document: of its first ones, that with the least of topic k.
func (x *maker) intrude(k int) error {
	rng, own := x.rng(Words, k), x.Topics.Words[k]
	var from []string
	for l, words := range x.Topics.Words {
		for _, w := range words[:min(near, len(words))] {
			if l != k && !slices.Contains(own, w) {
				from = append(from, w)
			}
		}
	}
	if from == nil {
		return fmt.Errorf("topic %d has the words of all topics", k)
	}
	words := append(slices.Clone(own[:shownWords]), from[rng.IntN(len(from))])
	at := shuffle(rng, words)
	x.add(Task{Kind: Words, Ask: "Which of these words does not belong to the others?", Options: words}, Key{Topic: k, Right: at}, k)

	rng = x.rng(Documents, k)
	l := (k + 1 + rng.IntN(x.k-1)) % x.k
	docs := slices.Clone(x.order[k][:shownTexts])
	others := slices.DeleteFunc(slices.Clone(x.order[l][:near]), func(d int) bool { return slices.Contains(docs, d) })
	docs = append(docs, slices.MinFunc(others, func(a, b int) int { return cmp.Compare(x.Shares.At(a, k), x.Shares.At(b, k)) }))
	at = shuffle(rng, docs)
	x.add(Task{Kind: Documents, Ask: "Which of these texts is not about what the others are about?", Options: x.texts(docs...)}, Key{Topic: k, Right: at}, k)
	return nil
}

// label asks for a name of the topic and for ratings of documents from the first that have it to the last, closer together
// among the first.
func (x *maker) label(k int) {
	var docs []int
	for i := range rated {
		far := math.Pow(float64(x.m-shownTexts-rated+1), float64(i)/(rated-1))
		docs = append(docs, x.order[k][shownTexts+i+int(math.Round(far))-1])
	}
	shuffle(x.rng(Label, k), docs)
	key := Key{Topic: k}
	for _, d := range docs {
		key.Shares = append(key.Shares, x.Shares.At(d, k))
	}
	x.add(Task{Kind: Label, Ask: "Name what these words and texts are about. Then rate how well each option fits the name, from 1, not at all, to 5.",
		Words: x.Topics.Words[k], Texts: x.texts(x.order[k][:shownTexts]...), Options: x.texts(docs...)}, key, k)
}

func (x *maker) texts(docs ...int) (out []string) {
	for _, d := range docs {
		text := []rune(x.Text(d))
		if len(text) > length {
			text = append(text[:length], '…')
		}
		out = append(out, string(text))
	}
	return out
}

// shuffle returns where the last one is afterwards, from 1.
func shuffle[T comparable](rng *rand.Rand, x []T) int {
	last := x[len(x)-1]
	rng.Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
	return slices.Index(x, last) + 1
}
