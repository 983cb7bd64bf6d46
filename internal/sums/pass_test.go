package sums

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/docstep"
	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/holdout"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// passOver returns a pass of random topics over the documents of l.
func passOver(l list, k int, task Task) *Pass {
	rnd := rand.New(rand.NewPCG(5, uint64(k)))
	p := &Pass{
		Task: task, Topics: estep.NewRows(l.n, k), Alpha: 0.3, Begin: make([]float32, k), Steps: 3, Leave: true,
		Hide: task == Learn, Unigram: make([]float32, l.n), Scored: 1, Every: 2, Totals: make([]float64, k),
		Words: make([]int64, l.n),
	}
	for t := range k {
		p.Begin[t], p.Totals[t] = rnd.Float32()+0.1, 100*rnd.Float64()+1
	}
	for i := range l.n {
		p.Unigram[i] = 1 / float32(l.n)
		for t := range p.Topics.Row(i) {
			p.Topics.Row(i)[t] = float32(math.Exp(2*rnd.NormFloat64())) / float32(l.n)
		}
	}
	for _, d := range l.docs {
		if len(d.Words) > 0 {
			p.Docs++
		}
		for i, w := range d.Words {
			p.Words[w] += int64(d.Counts[i])
		}
	}
	for j := range k {
		for i := range j {
			p.Pairs = append(p.Pairs, docstep.Pair{Into: i, From: j})
		}
	}
	return p
}

// slowPass is what a pass finds, in float64 and by its definition.
type slowPass struct {
	counts, moments [][]float64
	costs           []float64
	loglik, hidden  float64
	tokens          float64
	alone           []float64
	parts           []slowPart
}

// slowPart is the part that a topic has of a document.
type slowPart struct {
	topic int
	words map[int]float64
}

func slow(p *Pass, docs []corpus.Document) *slowPass {
	n, k := p.Topics.N, p.Topics.K
	s := &slowPass{counts: zeros(n, k), moments: zeros(k, k), costs: make([]float64, len(p.Pairs)), alone: make([]float64, k)}
	for number, d := range docs {
		if len(d.Words) == 0 {
			continue
		}
		key := bag.Key(d.ID, number+1)
		x, hidden := map[int32]float64{}, map[int32]float64{}
		token := 0
		for i, w := range d.Words {
			for range d.Counts[i] {
				if token++; token%2 == 0 && p.Hide && holdout.HeldOut(key) {
					hidden[w]++
				} else {
					x[w]++
				}
			}
		}
		form := p.Leave && len(hidden) == 0
		begin, alpha := make([]float64, k), slices.Repeat([]float64{float64(p.Alpha)}, k)
		for i, v := range p.Begin {
			begin[i] = float64(v)
		}
		if p.Least > 0 {
			begin, alpha = kept(p, x, form)
		}
		t := weights(p, begin, alpha, x, form)
		all := sumOfAll(t)
		tokens := make([]float64, k)
		for i, v := range t {
			tokens[i] = max(v-alpha[i], 0)
		}
		s.share(p, tokens, x)
		for i, v := range tokens {
			if v > sumOfAll(tokens)/2 {
				s.alone[i] += v / sumOfAll(tokens)
			}
		}
		for i, pair := range p.Pairs {
			if holdout.Sampled(key, p.Every) && (p.Least == 0 || max(t[pair.Into], t[pair.From]) >= float64(p.Alpha)+0.05) {
				s.costs[i] += lost(p, pair, t, x)
			}
		}
		for w, v := range x {
			s.loglik += v * math.Log(dots(t, p.Topics.Row(int(w)))/all)
			s.tokens += v
		}
		for w, v := range hidden {
			s.hidden += v * math.Log((1-docstep.Smoothing)*dots(t, p.Topics.Row(int(w)))/all+docstep.Smoothing*float64(p.Unigram[w]))
		}
		for w, v := range x {
			if p.Task == Finish {
				v = 1
			}
			for i, g := range responsibilities(p, t, int(w), form && p.Task == Learn) {
				s.counts[w][i] += v * g
			}
		}
		if p.Least > 0 {
			s.addSome(p, tokens)
			continue
		}
		for i, x := range t {
			for j, y := range t {
				s.moments[i][j] += x * y / all / (all + 1)
			}
			s.moments[i][i] += x / all / (all + 1)
		}
	}
	return s
}

func zeros(r, c int) [][]float64 {
	m := make([][]float64, r)
	for i := range m {
		m[i] = make([]float64, c)
	}
	return m
}

func sumOfAll(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum
}

func dots(t []float64, b []float32) (sum float64) {
	for i, v := range t {
		sum += v * float64(b[i])
	}
	return sum
}

// responsibilities of a word, with one token left out of the document if leave.
func responsibilities(p *Pass, t []float64, w int, leave bool) []float64 {
	b := p.Topics.Row(w)
	g, z, sum := make([]float64, len(t)), dots(t, b), 0.0
	for i, v := range t {
		g[i] = v * float64(b[i])
		if leave && v > 0 {
			g[i] = max(v-g[i]/z, docstep.MinWeight) * float64(b[i])
		}
		sum += g[i]
	}
	for i := range g {
		g[i] /= sum
	}
	return g
}

// weights are those of the topics in a document with counts x that begins with some, found with a token
// left out from the second step on if leave.
func weights(p *Pass, begin, alpha []float64, x map[int32]float64, leave bool) []float64 {
	all, t := sumOfAll(alpha), slices.Clone(begin)
	for _, v := range x {
		all += v
	}
	scale := func() {
		sum := sumOfAll(t)
		for i := range t {
			t[i] *= all / sum
		}
	}
	scale()
	for step := range p.Steps {
		next := make([]float64, len(t))
		for w, v := range x {
			for i, g := range responsibilities(p, t, int(w), leave && step > 0) {
				next[i] += v * g
			}
		}
		for i, v := range next {
			if v += alpha[i]; v > 0 {
				v = max(v*min(v/t[i], 4), alpha[i])
			}
			t[i] = v
		}
		scale()
	}
	return t
}

// kept are the weights that a document with counts x begins with, and α, of the topics that it keeps: 0 of
// the others. Each block is a topic at first, a mean of its topics.
func kept(p *Pass, x map[int32]float64, leave bool) (begin, alpha []float64) {
	k := p.Topics.K
	blocks := (k + 15) / 16
	q := &Pass{Topics: estep.NewRows(p.Topics.N, blocks), Steps: p.Steps}
	begin, alpha = make([]float64, k), make([]float64, k)
	b, a := make([]float64, blocks), make([]float64, blocks)
	for t, v := range p.Begin {
		b[t/16] += float64(v)
		a[t/16] += float64(p.Alpha)
	}
	for w := range p.Topics.N {
		for t, v := range p.Topics.Row(w) {
			q.Topics.Row(w)[t/16] += v * p.Begin[t] / float32(b[t/16])
		}
	}
	all, sums := weights(q, b, a, x, leave), make([]float64, blocks)
	for t, v := range p.Begin {
		begin[t] = float64(v) * all[t/16] / b[t/16]
		sums[t/16] += max(begin[t]-float64(p.Alpha), 0)
	}
	most := slices.Index(sums, slices.Max(sums))
	for t := range begin {
		if sums[t/16] < float64(p.Least) && t/16 != most || t/16 != most && slices.Max(sums) < float64(p.Least) {
			begin[t] = 0
		} else {
			alpha[t] = float64(p.Alpha)
		}
	}
	return begin, alpha
}

// addSome adds E[θθᵀ] of a document with n tokens by topic.
func (s *slowPass) addSome(p *Pass, n []float64) {
	alpha := float64(p.Alpha)
	total := alpha*float64(len(n)) + sumOfAll(n)
	for i, x := range n {
		for j, y := range n {
			v := (x + alpha) * (y + alpha)
			if i == j {
				v += x + alpha
			}
			s.moments[i][j] += v / total / (total + 1)
		}
	}
}

// share adds the parts of a document with n tokens by topic.
func (s *slowPass) share(p *Pass, n []float64, x map[int32]float64) {
	n = slices.Clone(n)
	for i, v := range n {
		if v < docstep.LeastShared {
			n[i] = 0
		}
	}
	if sumOfAll(n) == 0 {
		return
	}
	parts := make([]slowPart, len(n))
	for w, v := range x {
		for i, g := range responsibilities(p, n, int(w), false) {
			if g*v >= docstep.LeastShared {
				if parts[i].words == nil {
					parts[i] = slowPart{i, map[int]float64{}}
				}
				parts[i].words[int(w)] = g * v
			}
		}
	}
	for _, part := range parts {
		if len(part.words) > 0 {
			s.parts = append(s.parts, part)
		}
	}
}

// lost is the log-likelihood that a document loses if two topics are one.
func lost(p *Pass, pair docstep.Pair, t []float64, x map[int32]float64) (loss float64) {
	r, s := p.Totals[pair.Into], p.Totals[pair.From]
	for w, v := range x {
		b := p.Topics.Row(int(w))
		bi, bj := float64(b[pair.Into]), float64(b[pair.From])
		before := dots(t, b)
		after := before - t[pair.Into]*bi - t[pair.From]*bj + (t[pair.Into]+t[pair.From])*(r*bi+s*bj)/(r+s)
		loss += v * math.Log(before/after)
	}
	return loss
}

// close fails unless two numbers differ by tol of the second at most, or of 1.
func closeTo(t *testing.T, name string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*max(1, math.Abs(want))) {
		t.Errorf("%s = %.9g, want %.9g", name, got, want)
	}
}

// All numbers are those of the definition in float64, except for the rounding of float32: sums of
// some hundred responsibilities, three times over, to 2e-6 of the whole.
func TestPass(t *testing.T) {
	testutil.NotWithRace(t)
	const tol = 2e-6
	l := random(300, 40)
	for _, task := range []Task{Learn, Finish} {
		for _, k := range []int{1, 5, 17, -40} {
			for _, leave := range []bool{false, true} {
				name := fmt.Sprintf("task %d, K = %d, leave %v: ", task, k, leave)
				some := k < 0 // topics are kept
				if some {
					k = -k
				}
				p := passOver(l, k, task)
				if p.Leave = leave; some {
					p.Least, p.Alpha, p.Pairs = 3, 0.05, p.Pairs[:100]
				}
				a, err := p.Read(sumOf(t, NewLocal(l.encode(t), 2), p))
				if err != nil {
					t.Fatal(err)
				}
				want, row := slow(p, l.docs), make([]float64, k)
				for i, counts := range want.counts {
					a.Counts(i, row)
					for j, v := range counts {
						closeTo(t, fmt.Sprintf("%sword %d, topic %d", name, i, j), row[j], v, tol)
					}
				}
				for i := range p.Pairs {
					closeTo(t, fmt.Sprintf("%scost of %v", name, p.Pairs[i]), a.Cost(i), want.costs[i], 20*tol) // a sum of differences
				}
				closeTo(t, name+"log-likelihood", a.LogLik, want.loglik, tol)
				closeTo(t, name+"scored", a.Scored, want.tokens, 0)
				if task == Learn {
					closeTo(t, name+"hidden", a.Hidden, want.hidden, tol)
					if a.HiddenScored == 0 {
						t.Fatalf("%sno token is hidden", name)
					}
					continue
				}
				for i, v := range a.Alone() {
					closeTo(t, fmt.Sprintf("%sdocuments of topic %d", name, i), v, want.alone[i], tol)
				}
				m := a.Moments()
				for i, row := range want.moments {
					for j, v := range row {
						closeTo(t, fmt.Sprintf("%smoment %d, %d", name, i, j), m.At(i, j), v, tol)
					}
				}
			}
		}
	}
}

// A sum is the same bits for any number of goroutines, for documents in any order, and added up
// from parts; with a plan from its bytes, too. Comparing finds the costs that learning does.
func TestPassSameBits(t *testing.T) {
	docs := 3000
	if testutil.Race {
		docs = 1000
	}
	l := random(docs, 60)
	encoded := l.encode(t)
	back := list{docs: slices.Clone(l.docs), n: l.n}
	slices.Reverse(back.docs)
	for _, task := range []Task{Learn, Finish} {
		t.Run(fmt.Sprint("task ", task), func(t *testing.T) {
			p := passOver(l, 9, task)
			p.Scored = 4
			b, err := p.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			read, err := ReadPlan(b)
			if err != nil {
				t.Fatal(err)
			}
			want := sumOf(t, NewLocal(encoded, 1), p)
			parts := sumOfParts(t, l, 700, 3, p)
			for name, got := range map[string][]int64{
				"two goroutines": sumOf(t, NewLocal(encoded, 2), p), "eight": sumOf(t, NewLocal(encoded, 8), p),
				"the plan's bytes": sumOf(t, NewLocal(encoded, 2), read), "parts": parts,
				"another order": sumOf(t, NewLocal(back.encode(t), 2), p),
			} {
				if !slices.Equal(got, want) {
					t.Errorf("%s: another sum", name)
				}
			}
			a, err := p.Read(want)
			if err != nil {
				t.Fatal(err)
			}
			compare := *p
			compare.Task = Compare
			c, err := compare.Read(sumOf(t, NewLocal(encoded, 2), &compare))
			if err != nil {
				t.Fatal(err)
			}
			for i := range p.Pairs {
				if c.Cost(i) != a.Cost(i) || c.Cost(i) == 0 {
					t.Errorf("the cost %d is %v alone, %v in a pass", i, c.Cost(i), a.Cost(i))
				}
			}
		})
	}
}

// Nothing overflows with the largest counts that a document can have, nor does the precision
// get lost: of 4096 documents of one word each with 2^31−1 tokens, and one rare word.
func TestPassOfManyTokens(t *testing.T) {
	l := list{n: 2}
	for i := range 4096 {
		l.docs = append(l.docs, corpus.Document{ID: fmt.Sprint(i), Words: []int32{0}, Counts: []int32{math.MaxInt32}})
	}
	l.docs = append(l.docs, corpus.Document{ID: "rare", Words: []int32{1}, Counts: []int32{1}})
	for _, task := range []Task{Learn, Finish} {
		p := passOver(l, 3, task)
		p.Topics.Row(0)[0], p.Topics.Row(0)[1] = estep.Least, estep.Least // log-likelihoods as large as they get
		p.Topics.Row(0)[2] = estep.Least
		a, err := p.Read(sumOf(t, NewLocal(l.encode(t), 2), p))
		if err != nil {
			t.Fatal(err)
		}
		want, row := [2]float64{4096 * math.MaxInt32, 1}, make([]float64, 3)
		if task == Finish {
			want[0] = 4096
		} else {
			want[0] -= a.HiddenScored
		}
		for i, w := range want {
			if a.Counts(i, row); !(math.Abs(sumOfAll(row)-w) <= 1e-6*w) {
				t.Errorf("task %d: word %d has %v, want %v", task, i, sumOfAll(row), w)
			}
		}
		if v := a.LogLik / a.Scored; !(math.Abs(v-math.Log(estep.Least)) < 1e-3) {
			t.Errorf("task %d: log-likelihood %v", task, v)
		}
	}
}

// Errors name the document and the word, or what is wrong with the plan.
func TestPassErrors(t *testing.T) {
	l := random(50, 20)
	e := l.encode(t)
	fails := func(name, want string, change func(p *Pass)) {
		t.Helper()
		p := passOver(l, 3, Learn)
		change(p)
		sum, err := NewLocal(e, 2).Sum(t.Context(), p)
		if err == nil {
			_, err = p.Read(sum)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	fails("fewer words", "is not in [0, 9]", func(p *Pass) {
		p.Topics, p.Words = estep.NewRows(10, 3), p.Words[:10]
	})
	fails("an impossible word", "has no probability", func(p *Pass) { clear(p.Topics.Row(4)) })
	fails("other documents", "tokens, and had", func(p *Pass) { p.Words[3]++ })
	bad := func(want string, change func(p *Pass)) {
		t.Helper()
		p := passOver(l, 3, Learn)
		change(p)
		if _, err := p.MarshalBinary(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	bad("task", func(p *Pass) { p.Task = 9 })
	bad("steps", func(p *Pass) { p.Steps = 0 })
	bad("no pair", func(p *Pass) { p.Pairs[1] = docstep.Pair{Into: 2, From: 2} })
	bad("no pair", func(p *Pass) { p.Pairs[1] = docstep.Pair{Into: 0, From: 3} })
	bad("all words may have", func(p *Pass) { p.Words[2] = maxTokens + 1 })
	bad("numbers for", func(p *Pass) { p.Begin = p.Begin[:2] })
	b, err := passOver(l, 3, Learn).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	body := b[planHeader : len(b)-4]
	for n := range len(body) {
		if _, err := readPass(body[:n]); err == nil {
			t.Fatalf("%d of %d bytes are a pass", n, len(body))
		}
	}
	for i := range 80 { // of the header
		for _, v := range []byte{0x7f, 0x80, 0xff} {
			broken := slices.Clone(body)
			broken[i] ^= v
			if p, err := readPass(broken); err == nil {
				p.Adder() // whatever is in range can be used
			}
		}
	}
}
