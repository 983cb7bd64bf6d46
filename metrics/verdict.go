package metrics

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/arith"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/vec"
)

// Quality is what a topic is worth to a reader.
type Quality uint8

const (
	Sound        Quality = iota // none of the others
	Weak                        // its words do not go together, most of their occurrences are elsewhere, or its share is small
	Background                  // it gathers what most documents share, instead of a subject
	Twin                        // another topic, of larger share, is of the same subject
	FewDocuments                // it rests on a few documents, and its words and share describe these alone
	Boilerplate                 // its words come all together, and once, as in a footer
)

var qualities = [...]string{"sound", "weak", "background", "twin", "few documents", "boilerplate"}

func (q Quality) String() string {
	if int(q) < len(qualities) {
		return qualities[q]
	}
	return fmt.Sprintf("Quality(%d)", uint8(q))
}

// MarshalText implements encoding.TextMarshaler: it writes what String returns.
func (q Quality) MarshalText() ([]byte, error) { return []byte(q.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (q *Quality) UnmarshalText(b []byte) error {
	i := slices.Index(qualities[:], string(b))
	if i < 0 {
		return fmt.Errorf("metrics: a topic cannot be %.40q; want one of %q", b, qualities)
	}
	*q = Quality(i)
	return nil
}

// The limits of Verdicts. METHODS.md says what was measured.
const (
	verdictWords    = 10   // words of a topic that are looked at
	leastWeight     = 0.01 // of a word, as a part of the largest
	leastTimes      = 1.1  // as often as by chance that words which go together meet,
	leastDeviations = 1.15 // and how many deviations more often, times √(ln N)
	leastJoined     = 0.75 // planted subjects have 0.7 to 1, two in one topic 0.5 or 0.6
	weakExclusivity = 0.2
	fewestDocuments = 20
	leastTogether   = 0.5
	mostRepeated    = 2.5
)

// Verdict is the quality of a topic, with the measures behind it. The words of a topic are
// its ten of largest weight in Factors.Reading, without those below a hundredth of the largest.
type Verdict struct {
	Quality Quality `json:"quality"`
	Share   float64 `json:"share"` // p(topic)
	// Words is how many words the topic has, and Joined how many of them go together: the largest group in which a
	// chain of links leads from each to each. Two words are linked if two documents or more have both, and they meet 1.1 times as often
	// as by chance, and by 1.15·√(ln N) standard deviations more often (PairCounts.Association).
	Words  int `json:"words"`
	Joined int `json:"joined"`
	// NPMI is that of the topic's words (see Report.NPMI), NaN for fewer than two.
	NPMI float64 `json:"npmi"`
	// Exclusivity is the mean of p(topic | word) over the topic's words, in [0, 1].
	Exclusivity float64 `json:"exclusivity"`
	// Documents is how many documents the topic rests on, the smaller of two numbers. One is the effective number of
	// its documents, M·E[θ]²/E[θ²] for its proportions θ in M documents, by Factors.A: M if all have as much of
	// it, d if d have it alone. The other is a lower bound of how many documents have one of its words, the two most frequent
	// left out: Σ_i n_i²/Σ_j n_ij, with n_i the documents of word i and n_ij those of words i and j (de Caen 1997).
	// NaN where A has no positive diagonal entry.
	Documents float64 `json:"documents"`
	// Twin is the topic of larger share (of the same, with a lower number) whose words are most like
	// those of the topic; −1 where there is none. Cosine is that of the differences
	// (p(w|topic) − p(w))/√p(w) of the two: 1 for equal topics, about 0 for topics without a subject in
	// common; 0 where there is no Twin.
	Twin   int     `json:"twin"`
	Cosine float64 `json:"cosine"`
	// Together is how many documents have both words of a pair, as a part of those that have the more frequent of
	// them, the mean over the pairs. Repeated is how often a word comes in a document that has it, the mean over the
	// words. Both are 0 where Factors.Tokens is nil.
	Together float64 `json:"together"`
	Repeated float64 `json:"repeated"`
}

// String returns the quality and the reason, as in "weak: only 5 of its 10 words go together".
func (v Verdict) String() string {
	reason := ""
	switch v.Quality {
	case Background:
		reason = ": many documents have some of it, and none is about it"
	case Twin:
		return fmt.Sprintf("twin of topic %d", v.Twin)
	case FewDocuments:
		reason = fmt.Sprintf(": it rests on about %.0f", v.Documents)
	case Boilerplate:
		reason = ": its words come all together and once, as in a footer"
	case Weak:
		switch {
		case v.Words < 2:
			reason = ": it has fewer than two words"
		case v.Joined < 2:
			reason = ": its words do not surely meet more often than by chance"
		case v.apart():
			reason = fmt.Sprintf(": only %d of its %d words go together", v.Joined, v.Words)
		case v.Exclusivity < weakExclusivity:
			reason = ": its words are mostly used in other topics"
		default:
			reason = ": documents have next to nothing of it"
		}
	}
	return v.Quality.String() + reason
}

// Verdicts judges each topic. The first of these holds:
//
//   - [FewDocuments], if Documents is below 20;
//   - Boilerplate, if Together is above 0.5, and Repeated below 2.5 and below −ln(1 − Together)/Together:
//     words that are drawn independently, and repeated as little, would be together less;
//   - Background, if Factors.Background says so;
//   - Twin, if Cosine is above 0.3;
//   - Weak, if Words is below 2, Joined below 0.75·Words, Exclusivity below 0.2, or Share below 1/(20K);
//   - Sound.
//
// f needs B, WordTopics, A and Pairs of the words of TopUnion(f.Reading, 10), of f.B where
// Reading is nil; C, Anchors and TopN are not used. Whether a topic would come back from
// other documents is not asked: see jsmf.Bootstrap. O(NK²).
//
// Errors: factors that are missing or do not fit, and ctx's.
func Verdicts(ctx context.Context, f Factors) ([]Verdict, error) {
	t, err := checkTopics(f.B)
	if err != nil {
		return nil, err
	}
	if f.WordTopics == nil || f.A == nil || noPairs(f.Pairs) {
		return nil, fmt.Errorf("metrics: verdicts need B̆, A and pair counts")
	}
	if err := checkBreve(f.WordTopics, t.n, t.k); err != nil {
		return nil, err
	}
	a, err := denseA(f.A, t.k)
	if err != nil {
		return nil, err
	}
	return verdicts(ctx, f, t, a)
}

func verdicts(ctx context.Context, f Factors, t *topics, a *mat.Dense) ([]Verdict, error) {
	if f.Background != nil && len(f.Background) != t.k {
		return nil, fmt.Errorf("metrics: background of %d topics, want %d", len(f.Background), t.k)
	}
	if f.Tokens != nil && len(f.Tokens) != t.n {
		return nil, fmt.Errorf("metrics: tokens of %d words, want %d", len(f.Tokens), t.n)
	}
	reading := cmp.Or(f.Reading, f.B)
	lists, err := readingLists(reading, t)
	if err != nil {
		return nil, err
	}
	if err := checkPairs(f.Pairs, lists); err != nil {
		return nil, err
	}
	shares, sum := rowSums(a), linalg.Sum(a)
	for k := range shares {
		shares[k] /= sum
	}
	near, err := nearest(ctx, f.B, shares, f.Workers)
	if err != nil {
		return nil, err
	}
	meet := npmi(lists, f.Pairs).Values
	out := make([]Verdict, t.k)
	for k := range out {
		v := Verdict{Share: shares[k], Words: len(lists[k]), Joined: joined(lists[k], f.Pairs, t.n), NPMI: meet[k], Twin: near[k].Twin, Cosine: near[k].Cosine, Documents: math.NaN()}
		for _, w := range lists[k] {
			v.Exclusivity += f.WordTopics.At(w, k) / float64(len(lists[k]))
		}
		docs := v.block(lists[k], f)
		if second := a.At(k, k) / sum; second > 0 && v.Share > 0 {
			v.Documents = min(float64(f.Pairs.Docs())*v.Share*v.Share/second, docs)
		}
		switch {
		case v.Documents < fewestDocuments:
			v.Quality = FewDocuments
		case v.Together > leastTogether && v.Repeated < min(mostRepeated, -arith.Log(max(1-v.Together, 0))/v.Together):
			v.Quality = Boilerplate
		case f.Background != nil && f.Background[k]:
			v.Quality = Background
		case v.Cosine > twinCosine:
			v.Quality = Twin
		case v.Words < 2 || v.apart() || v.Exclusivity < weakExclusivity || !(v.Share >= deadShare/float64(t.k)):
			v.Quality = Weak
		}
		out[k] = v
	}
	return out, nil
}

// apart reports whether the words do not go together.
func (v *Verdict) apart() bool { return float64(v.Joined) < leastJoined*float64(v.Words) }

// joined returns how many of the words, of n in all, go together: see Verdict.Joined.
func joined(words []int, pairs PairCounts, n int) int {
	least := leastDeviations * math.Sqrt(arith.Log(float64(n)))
	linked := func(x, y int) bool {
		times, deviations := pairs.Association(x, y)
		return pairs.At(x, y) >= 2 && times >= leastTimes && deviations > least
	}
	most := 0
	for left := slices.Clone(words); len(left) > 0; {
		group := left[:1:1]
		left = left[1:]
		for i := 0; i < len(group); i++ {
			left = slices.DeleteFunc(left, func(w int) bool {
				in := linked(group[i], w)
				if in {
					group = append(group, w)
				}
				return in
			})
		}
		most = max(most, len(group))
	}
	return most
}

// block sets Together and Repeated, and returns how many documents have one of the words, as for Documents.
func (v *Verdict) block(words []int, f Factors) (docs float64) {
	pairs := float64(len(words) * (len(words) - 1) / 2)
	for i, w := range words {
		if f.Tokens == nil {
			break
		}
		n := float64(max(f.Pairs.D1(w), 1))
		v.Repeated += float64(f.Tokens[w]) / n / float64(len(words))
		for _, x := range words[:i] {
			v.Together += float64(f.Pairs.At(w, x)) / max(n, float64(f.Pairs.D1(x))) / pairs
		}
	}
	rare := slices.SortedStableFunc(slices.Values(words), func(a, b int) int { return cmp.Compare(f.Pairs.D1(a), f.Pairs.D1(b)) })
	if len(rare) < 4 {
		return math.Inf(1)
	}
	rare = rare[:len(rare)-2]
	for _, w := range rare {
		n, both := float64(f.Pairs.D1(w)), 0.0
		for _, x := range rare {
			if x != w {
				both += float64(f.Pairs.At(w, x))
			}
		}
		if n > 0 {
			docs += n * n / (n + both)
		}
	}
	return docs
}

// readingLists returns the words of each topic that verdicts look at, best first.
func readingLists(reading *mat.Dense, t *topics) ([][]int, error) {
	if r, c := dims(reading); r != t.n || c != t.k {
		return nil, wrongShape("Reading", r, c, t.n, t.k)
	}
	lists := make([][]int, t.k)
	for k, words := range topWords(reading, verdictWords) {
		for _, w := range words {
			x := reading.At(w, k)
			if !vec.Finite(x) {
				return nil, fmt.Errorf("metrics: the weight of word %d in topic %d is %v", w, k, x)
			}
			if x > 0 && x >= leastWeight*reading.At(words[0], k) {
				lists[k] = append(lists[k], w)
			}
		}
	}
	return lists, nil
}

// DeadTopic is a topic that a model would not miss.
type DeadTopic struct {
	Topic  int
	Twin   int     // the topic of larger share that this one resembles; −1: dead for its share alone
	Share  float64 // p(topic)
	Cosine float64 // of the topic and its twin, 0 without one
}

const (
	deadShare = 1.0 / 20 // of the mean share
	// Planted topics with 60 % of their words to themselves, or half of them, have cosines up to 0.2. Where twice
	// as many are fitted as were planted, the halves of one have 0.25 to 0.6.
	twinCosine = 0.3
)

// DeadTopics returns the topics, ascending, whose share is below 1/(20K), and those with a twin, that
// is a topic of the same subject that has a larger share, or the same share and a lower number: see
// [Verdict].
//
// b is N×K and shares has the K numbers p(topic); one that is no number counts as 0. Time
// O(NK²); workers bounds the goroutines (0: GOMAXPROCS) and does not change the result.
// Errors: entries of b that are no probabilities, another number of shares, and ctx's.
func DeadTopics(ctx context.Context, b *mat.Dense, shares []float64, workers int) ([]DeadTopic, error) {
	t, err := checkTopics(b)
	if err != nil {
		return nil, err
	}
	if len(shares) != t.k {
		return nil, fmt.Errorf("metrics: %d shares of %d topics", len(shares), t.k)
	}
	near, err := nearest(ctx, b, shares, workers)
	if err != nil {
		return nil, err
	}
	var out []DeadTopic
	for _, d := range near {
		if d.Cosine <= twinCosine {
			d.Twin, d.Cosine = -1, 0
		}
		if d.Twin >= 0 || d.Share < deadShare/float64(t.k) {
			out = append(out, d)
		}
	}
	return out, nil
}

// wordsAtOnce are scaled at a time: a copy of all topics may be large.
const wordsAtOnce = 2048

// nearest returns for each topic the one of larger share, or of the same and a lower number, that is most
// like it: see Verdict.Twin. With D = diag(1/p(w)), the inner products of the differences of topics are
// those of BᵀDB less 1.
func nearest(ctx context.Context, b *mat.Dense, shares []float64, workers int) ([]DeadTopic, error) {
	n, k := b.Dims()
	gram, part, positive := linalg.NewGeneral(k, k), linalg.NewGeneral(k, k), make([]float64, k)
	for t, v := range shares {
		if v > 0 {
			positive[t] = v
		}
	}
	sum, scaled := vec.Sum(positive), linalg.NewGeneral(min(n, wordsAtOnce), k)
	for lo := 0; lo < n; lo += wordsAtOnce {
		scaled.Rows = min(wordsAtOnce, n-lo)
		for i := range scaled.Rows {
			row := linalg.Row(scaled, i)
			copy(row, b.RawRowView(lo+i))
			if p := vec.Dot(positive, row) / sum; p > 0 {
				floats.Scale(1/math.Sqrt(p), row)
			}
		}
		if err := linalg.Gram(ctx, scaled, part, workers); err != nil {
			return nil, fmt.Errorf("metrics: similar topics: %w", err)
		}
		floats.Add(gram.Data, part.Data)
	}
	inner := func(s, t int) float64 {
		if v := gram.Data[s*k+t] - 1; math.Abs(v) > 1e-12 {
			return v
		}
		return 0 // by rounding alone it is not
	}
	out := make([]DeadTopic, k)
	for t := range out {
		out[t] = DeadTopic{Topic: t, Twin: -1, Share: shares[t]}
		if math.IsNaN(shares[t]) {
			out[t].Share = 0
		}
	}
	order := vec.Order(k, func(t int) float64 { return out[t].Share })
	for i, t := range order {
		d := &out[t]
		for _, s := range order[:i] {
			c := inner(s, t) / math.Sqrt(inner(s, s)*inner(t, t))
			if inner(s, s) == 0 && inner(t, t) == 0 {
				c = 1 // both have the words of all documents
			}
			if c > d.Cosine {
				d.Twin, d.Cosine = s, c
			}
		}
	}
	return out, nil
}
