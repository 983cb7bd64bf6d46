package sums

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"
)

// partsOver returns a plan of the parts of 20 topics, of which documents keep some or all, and for some of
// the topics one that counts every second word together.
func partsOver(t *testing.T, l list, some bool) (frequencies, moments *Parts) {
	t.Helper()
	p := passOver(l, 20, Compare)
	if p.Hide, p.Pairs = true, nil; some {
		p.Least, p.Alpha = 3, 0.05
	}
	info := l.encode(t).Info()
	frequencies, moments = &Parts{Pass: p, Least: 1.5}, &Parts{Pass: p, Least: 1.5}
	for _, topic := range []int{3, 17, 19} {
		var words []int32
		idf := make([]float64, l.n)
		for w := range idf {
			idf[w] = math.Log(float64(2 + w + topic))
			if w%2 == topic%2 {
				words = append(words, int32(w))
			}
		}
		m, err := NewMoment(info.DocFrequencies, idf, words, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		moments.Of = append(moments.Of, PartMoment{topic, m})
	}
	return frequencies, moments
}

// All numbers are those of the definition in float64, except for the rounding of float32 (TestPass), of
// documents of which no share is as near to LeastShared as that.
func TestParts(t *testing.T) {
	const tol = 1e-5
	l := random(300, 40)
	docs := NewLocal(l.encode(t), 2)
	for _, some := range []bool{false, true} {
		p, together := partsOver(t, l, some)
		want := slow(p.Pass, l.docs).parts
		sum := sumOf(t, docs, p)
		df, shares := make([]float64, l.n), make([]float64, l.n)
		for topic := range 20 {
			name := fmt.Sprintf("some %v, topic %d: ", some, topic)
			n, all := 0.0, 0.0
			wantDf, wantShares := make([]float64, l.n), make([]float64, l.n)
			for _, part := range want {
				if part.topic != topic {
					continue
				}
				of := 0.0
				for _, v := range part.words {
					of += v
				}
				if all += of; of < p.Least {
					continue
				}
				n++
				for w, v := range part.words {
					wantDf[w] += min(1, v)
					wantShares[w] += v / of
				}
			}
			gotDocs := p.Frequencies(sum, topic, df, shares)
			if closeTo(t, name+"documents", gotDocs, n, 0); topic == 3 && n < 5 {
				t.Fatalf("%sof %v documents", name, n)
			}
			closeTo(t, name+"tokens", p.Tokens(sum, topic), all, tol)
			for w := range df {
				closeTo(t, fmt.Sprintf("%sdocuments with word %d", name, w), df[w], wantDf[w], tol)
				closeTo(t, fmt.Sprintf("%sshares of word %d", name, w), shares[w], wantShares[w], tol)
			}
		}
		for i, sum := range together.Sums(sumOf(t, docs, together)) {
			m := together.Of[i]
			got, _, err := m.Matrix(sum)
			if err != nil {
				t.Fatal(err)
			}
			want := slowTogether(m, p.Least, want)
			for a := range m.words {
				for b := range m.words {
					closeTo(t, fmt.Sprintf("some %v, topic %d, entry %d, %d", some, m.Topic, a, b), got.At(a, b), want[a][b], tol)
				}
			}
		}
	}
}

// slowTogether is the matrix of a topic by its definition.
func slowTogether(m PartMoment, least float64, parts []slowPart) [][]float64 {
	c, total := zeros(len(m.words), len(m.words)), 0.0
	for _, p := range parts {
		x, of, norm, has := make([]float64, len(m.words)), 0.0, 0.0, 0
		for _, v := range p.words {
			of += v
		}
		for i, w := range m.words {
			if v := p.words[w]; v > 0 {
				x[i] = v * m.idf[i]
				norm += x[i] * x[i]
				has++
			}
		}
		if p.topic != m.Topic || of < least || has < 2 {
			continue
		}
		for i, v := range x {
			for j, u := range x {
				c[i][j] += v * u / norm
				total += v * u / norm
			}
		}
	}
	for _, row := range c {
		for j := range row {
			row[j] /= total
		}
	}
	return c
}

// A sum is the same bits for any number of goroutines, for documents in any order and in parts, and from
// the bytes of the plan. A damaged plan is an error.
func TestPartsSameBits(t *testing.T) {
	l := random(1500, 60)
	back := list{docs: slices.Clone(l.docs), n: l.n}
	slices.Reverse(back.docs)
	for _, some := range []bool{false, true} {
		f, m := partsOver(t, l, some)
		for i, p := range []*Parts{f, m} {
			b, err := p.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			read, err := ReadPlan(b)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := read.MarshalBinary(); err != nil || !bytes.Equal(again, b) {
				t.Errorf("some %v, plan %d: other bytes, %v", some, i, err)
			}
			want := sumOf(t, NewLocal(l.encode(t), 1), p)
			cut := sumOfParts(t, l, 400, 2, p)
			for name, got := range map[string][]int64{
				"four goroutines": sumOf(t, NewLocal(l.encode(t), 4), p), "the plan's bytes": sumOf(t, NewLocal(l.encode(t), 2), read),
				"parts": cut, "another order": sumOf(t, NewLocal(back.encode(t), 2), p),
			} {
				if !slices.Equal(got, want) {
					t.Errorf("some %v, plan %d, %s: another sum", some, i, name)
				}
			}
			body := b[planHeader : len(b)-4]
			for cut := 0; cut < len(body); cut += 1 + len(body)/50 {
				if _, err := readParts(body[:cut]); err == nil {
					t.Errorf("some %v, plan %d: no error for %d bytes", some, i, cut)
				}
			}
		}
		// Plans that contradict themselves.
		for want, damage := range map[string]func(*Parts){
			"once or twice":             func(p *Parts) { p.Of = append(p.Of, p.Of[0]) },
			"topic 20 of 20":            func(p *Parts) { p.Of[0].Topic = 20 },
			"found by another plan":     func(p *Parts) { p.Pass.Task = Learn },
			"that has NaN tokens":       func(p *Parts) { p.Least = math.NaN() },
			"keeps blocks of -1 tokens": func(p *Parts) { p.Pass.Least = -1 },
		} {
			_, p := partsOver(t, l, some)
			damage(p)
			b, err := p.MarshalBinary()
			if err == nil {
				_, err = ReadPlan(b)
			}
			wantError(t, err, want)
		}
	}
}

// Nothing overflows: 4096 documents of two words, one of them with 2^31−1 tokens, all of one topic.
func TestPartsOfManyTokens(t *testing.T) {
	l := random(4096, 2)
	for i := range l.docs {
		l.docs[i].Words, l.docs[i].Counts = []int32{0, 1}, []int32{math.MaxInt32, 1}
	}
	p := passOver(l, 1, Compare)
	m, err := NewMoment([]int{4096, 4096}, []float64{1, 1}, []int32{0, 1}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	docs := NewLocal(l.encode(t), 1)
	plan := &Parts{Pass: p, Least: 10}
	df, shares := make([]float64, 2), make([]float64, 2)
	sum := sumOf(t, docs, plan)
	closeTo(t, "documents", plan.Frequencies(sum, 0, df, shares), 4096, 0)
	closeTo(t, "tokens", plan.Tokens(sum, 0), 4096*(math.MaxInt32+1), 1e-6)
	closeTo(t, "documents of the first word", df[0], 4096, 1e-6)
	closeTo(t, "shares of the first word", shares[0], 4096, 1e-6)
	plan.Of = []PartMoment{{0, m}}
	x, info, err := m.Matrix(plan.Sums(sumOf(t, docs, plan))[0])
	if err != nil || info.Documents != 4096 {
		t.Fatal(info, err)
	}
	closeTo(t, "entry", x.At(0, 0), 1, 1e-6)
}
