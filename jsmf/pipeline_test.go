package jsmf_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/james-bowman/sparse"
	"go.uber.org/goleak"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/recover/scls"
	"github.com/jsmf-go/spectral/rectify"
)

var ctx = context.Background()

func fit(t testing.TB, p jsmf.Pipeline, c jsmf.Input) *jsmf.Model {
	t.Helper()
	m, err := p.Fit(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func encoded(t testing.TB, m *jsmf.Model) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := m.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// counted is a corpus counted in another way than Fit does by itself.
func counted(t testing.TB, c *corpus.Corpus, o cooc.Options) *cooc.Moments {
	t.Helper()
	o.DropUnused = true
	m, err := cooc.NewMoments(ctx, c, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// countsCorpus makes a corpus of counts by document; words are called w0, w1, …
func countsCorpus(t testing.TB, words int, docs []map[int]int) *corpus.Corpus {
	t.Helper()
	ptr, ind, data := []int{0}, []int{}, []float64{}
	for _, d := range docs {
		for w := range words {
			if d[w] > 0 {
				ind, data = append(ind, w), append(data, float64(d[w]))
			}
		}
		ptr = append(ptr, len(ind))
	}
	vocab := make([]string, words)
	for i := range vocab {
		vocab[i] = fmt.Sprintf("w%d", i)
	}
	c, err := corpus.FromCSR(sparse.NewCSR(len(docs), words, ptr, ind, data), vocab, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// planted draws a corpus of a known model.
func planted(n, k, docs int) (*testutil.Planted, []map[int]int) {
	m := testutil.NewPlanted(n, k, 0.4, 31)
	lengths := make([]int, docs)
	for i := range lengths {
		lengths[i] = 20 + i%60
	}
	return m, m.Documents(lengths, 32)
}

// A Pipeline is a value: what branches off leaves it as it was.
func TestFork(t *testing.T) {
	_, docs := planted(60, 4, 200)
	c := countsCorpus(t, 60, docs)
	var parent, child int
	count := func(n *int) func(jsmf.Event) { return func(jsmf.Event) { *n++ } }
	base := jsmf.Published(4).Record(count(&parent))
	want := encoded(t, fit(t, base, c))
	once := parent
	fork := base.Rectify(rectify.None{}).Anchors(anchor.QR{MinDocs: 2}).Recover(recovery.SCLS{Solver: scls.ADMM{}}).
		Seed(9).Workers(2).Record(count(&child)).Record(nil)
	other := fit(t, fork, c)
	if bytes.Equal(encoded(t, other), want) {
		t.Error("the fork's settings have no effect")
	}
	if child == 0 || parent != once+child {
		t.Errorf("the parent's recorder saw %d events, then %d; the fork's %d", once, parent-once, child)
	}
	child = 0
	if !bytes.Equal(encoded(t, fit(t, base, c)), want) {
		t.Error("a fork changed its parent")
	}
	if child != 0 {
		t.Error("the fork's recorder heard of its parent's fit")
	}
	if p := other.Provenance(); p.Seed != 9 || !slices.Equal(p.Stages, []string{"None", "QR(min docs=2)", scls.ADMM{}.String()}) {
		t.Errorf("provenance %+v", p)
	}
}

// Everything wrong is said at once, the package's name only once.
func TestValidate(t *testing.T) {
	p := jsmf.Published(1).Workers(-2).
		Rectify(rectify.AP{Iterations: -3}).Anchors(anchor.QR{MinDocs: -4}).Recover(recovery.SCLS{Solver: scls.ExpGrad{MaxIterations: -5}})
	want := []string{"K = 1", "Workers(-2)", "rectify: AP: -3 iterations", "anchor: QR: MinDocs -4", "recovery: ", "MaxIterations", "-5"}
	check := func(err error) {
		t.Helper()
		if err == nil {
			t.Fatal("no error")
		}
		for _, s := range want {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("%q does not say %q", err, s)
			}
		}
		if strings.Count(err.Error(), "jsmf: ") != 1 {
			t.Errorf("%q names the package more than once", err)
		}
	}
	check(p.Validate(nil))
	_, err := p.Fit(ctx, countsCorpus(t, 2, []map[int]int{{0: 1}}))
	check(err)
	_, err = p.Fit(ctx, nil)
	check(err)
	for _, in := range []jsmf.Input{nil, (*corpus.Corpus)(nil)} {
		if _, err := jsmf.Published(2).Fit(ctx, in); err == nil || !strings.HasPrefix(err.Error(), "jsmf: ") {
			t.Errorf("Fit(%T): %v", in, err)
		}
	}
	want = []string{"K = 0", "no rectifier", "no anchor finder", "no recovery"}
	check(jsmf.Pipeline{}.Validate(nil))
	check(jsmf.Published(0).Rectify(nil).Anchors(nil).Recover(nil).Validate(nil))
	if err := jsmf.Published(2).Validate(nil); err != nil {
		t.Errorf("the defaults: %v", err)
	}
	if _, err := jsmf.Published(2).Fit(ctx, nil); err == nil || !strings.HasPrefix(err.Error(), "jsmf: ") {
		t.Errorf("no corpus: %v", err)
	}
}

// recording keeps events as short strings.
type recording struct {
	mu     sync.Mutex
	events []jsmf.Event
}

func (r *recording) Record(e jsmf.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

// order asks each stage to be one start, progress and warnings, and one end,
// the stages in the given order, and only the last of them to fail, with err.
func (r *recording) order(t *testing.T, err error, stages ...jsmf.Stage) {
	t.Helper()
	i := 0
	for s, stage := range stages {
		if i >= len(r.events) || r.events[i].Kind != jsmf.EventStart || r.events[i].Stage != stage {
			t.Fatalf("event %d is not the start of %s: %+v", i, stage, r.events)
		}
		done := 0
		for i++; i < len(r.events) && r.events[i].Kind != jsmf.EventEnd; i++ {
			e := r.events[i]
			switch {
			case e.Stage != stage:
				t.Fatalf("event %d of stage %s within %s", i, e.Stage, stage)
			case e.Kind == jsmf.EventProgress:
				if e.Done <= done || e.Done > e.Total {
					t.Errorf("%s: %d of %d after %d", stage, e.Done, e.Total, done)
				}
				done = e.Done
			case e.Kind != jsmf.EventWarning || e.Message == "":
				t.Errorf("%s: event %+v", stage, e)
			}
		}
		if i == len(r.events) || r.events[i].Stage != stage {
			t.Fatalf("%s does not end: %+v", stage, r.events)
		}
		end := r.events[i]
		i++
		last := s == len(stages)-1
		switch {
		case end.Err != nil && (err == nil || !last):
			t.Errorf("%s ended with %v", stage, end.Err)
		case last && err != nil && (end.Err == nil || !strings.Contains(err.Error(), end.Err.Error())):
			t.Errorf("%s ended with %v, the fit with %v", stage, end.Err, err)
		}
	}
	if i != len(r.events) {
		t.Errorf("more events: %+v", r.events[i:])
	}
}

var allStages = []jsmf.Stage{jsmf.StageCooc, jsmf.StageRectify, jsmf.StageAnchors, jsmf.StageRecover}

func TestRecorder(t *testing.T) {
	_, docs := planted(60, 4, 200)
	c := countsCorpus(t, 60, append(docs, map[int]int{1: 2}))
	var r recording
	ends := 0
	m := fit(t, jsmf.Published(4).Record(r.Record).Record(func(e jsmf.Event) {
		if e.Kind == jsmf.EventEnd {
			ends++
		}
	}), c)
	r.order(t, nil, allStages...)
	progress := map[jsmf.Stage]int{}
	var warnings []string
	for _, e := range r.events {
		switch e.Kind {
		case jsmf.EventProgress:
			progress[e.Stage]++
		case jsmf.EventWarning:
			warnings = append(warnings, e.Message)
		}
	}
	if progress[jsmf.StageRectify] != 15 || progress[jsmf.StageAnchors] != 4 || progress[jsmf.StageRecover] == 0 {
		t.Errorf("progress %v", progress)
	}
	if !slices.Equal(warnings, m.Stats().Warnings) || len(warnings) != 1 || !strings.Contains(warnings[0], "1 of 201 documents") {
		t.Errorf("warnings %q, in the model %q", warnings, m.Stats().Warnings)
	}
	if st := m.Stats().Corpus; st.Documents != 200 || st.Tokens != c.Tokens()-2 || st.NNZ != c.NNZ()-1 {
		t.Errorf("%+v", st)
	}
	if ends != len(allStages) {
		t.Errorf("the second recorder saw %d stages end, want %d", ends, len(allStages))
	}
	st := m.Stats()
	if st.Total < st.Durations[jsmf.StageCooc]+st.Durations[jsmf.StageRectify]+st.Durations[jsmf.StageAnchors]+st.Durations[jsmf.StageRecover] {
		t.Errorf("the stages took longer than the whole: %+v", st)
	}

	// A matrix goes through the same stages.
	var rm recording
	cm, err := cooc.NewMoments(ctx, c, cooc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := jsmf.Published(4).Record(rm.Record).Fit(ctx, cm); err != nil {
		t.Fatal(err)
	}
	rm.order(t, nil, allStages...)
}

var errStage = errors.New("out of luck")

// broken fails, or returns nothing, as a stage of any kind.
type broken struct{ err error }

func (b broken) String() string { return "broken" }
func (b broken) Rectify(context.Context, cooc.Operator, int, rectify.Options) (*rectify.Result, error) {
	return nil, b.err
}
func (b broken) Find(context.Context, cooc.Rows, int, anchor.Options) (*anchor.Result, error) {
	return nil, b.err
}
func (b broken) Recover(context.Context, cooc.Rows, []int, recovery.Options) (*recovery.Result, error) {
	return nil, b.err
}

// chosen is a finder that finds what it is told to.
type chosen []int

func (c chosen) String() string { return "chosen" }
func (c chosen) Find(context.Context, cooc.Rows, int, anchor.Options) (*anchor.Result, error) {
	return &anchor.Result{Anchors: c}, nil
}

// A stage that fails ends the fit: its error is wrapped once, and recorded.
func TestFailingStage(t *testing.T) {
	_, docs := planted(60, 4, 200)
	c := countsCorpus(t, 60, docs)
	for _, e := range []error{errStage, nil} {
		for i, p := range []jsmf.Pipeline{jsmf.Published(4).Rectify(broken{e}), jsmf.Published(4).Anchors(broken{e}), jsmf.Published(4).Recover(broken{e})} {
			var r recording
			m, err := p.Record(r.Record).Fit(ctx, c)
			if m != nil || err == nil || e != nil && err.Error() != "jsmf: out of luck" || e == nil && !strings.HasPrefix(err.Error(), "jsmf: broken ") {
				t.Errorf("stage %s: %v", allStages[1+i], err)
				continue
			}
			r.order(t, err, allStages[:2+i]...)
		}
	}
	// Own stages name their package, once, and words by name.
	for _, f := range []struct {
		p     jsmf.Pipeline
		words []string
	}{
		{jsmf.Published(4).Anchors(chosen{1, 2, 2, 3}), []string{"jsmf: recovery: ", "word 2", `"w2"`}},
		{jsmf.Published(4).Anchors(chosen{1, 2, 60, 3}), []string{"jsmf: recovery: ", "word 60", "not in [0, 60)"}},
		{jsmf.Published(4).Anchors(chosen{1}), []string{"jsmf: chosen found fewer than the 2 anchors"}},
		{jsmf.Published(4).Anchors(anchor.QR{MinDocs: 1000}), []string{"jsmf: anchor: ", "1000 documents"}},
	} {
		var r recording
		_, err := f.p.Record(r.Record).Fit(ctx, c)
		if err == nil || strings.Count(err.Error(), "jsmf: ") != 1 || !strings.HasPrefix(err.Error(), f.words[0]) {
			t.Errorf("%v, want %q", err, f.words)
			continue
		}
		for _, w := range f.words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%q does not say %q", err, w)
			}
		}
		if last := r.events[len(r.events)-1]; last.Kind != jsmf.EventEnd || last.Err == nil {
			t.Errorf("the last event is %+v", last)
		}
	}
}

// Cancelled at every kind of event of every stage, the fit ends
// with context.Canceled, within a chunk a worker, and leaves no goroutine.
func TestCancel(t *testing.T) {
	c := some(t, 1000, 600)
	for _, workers := range []int{1, 3} {
		for _, stage := range allStages {
			for _, kind := range []jsmf.EventKind{jsmf.EventStart, jsmf.EventProgress} {
				if kind == jsmf.EventProgress && stage == jsmf.StageCooc {
					continue // these have none
				}
				at := fmt.Sprintf("%s, %v, %d workers", stage, kind, workers)
				cctx, cancel := context.WithCancel(ctx)
				late, cancelled := 0, false
				var last jsmf.Event
				m, err := jsmf.Published(6).Rectify(rectify.AP{Iterations: 6}).Workers(workers).Record(func(e jsmf.Event) {
					if cancelled && e.Kind == jsmf.EventProgress {
						late++
					}
					if e.Stage == stage && e.Kind == kind {
						cancelled = true
						cancel()
					}
					last = e
				}).Fit(cctx, c)
				cancel()
				if m != nil || !errors.Is(err, context.Canceled) || strings.Count(err.Error(), "jsmf: ") != 1 {
					t.Errorf("%s: %v", at, err)
				}
				// Iterations and anchors are one step each, words are solved in
				// chunks: those in flight end.
				if allowed := workers - 1; late > allowed {
					t.Errorf("%s: %d more steps were done", at, late)
				}
				if last.Stage != stage || last.Kind != jsmf.EventEnd || !errors.Is(last.Err, context.Canceled) {
					t.Errorf("%s: the last event is %+v", at, last)
				}
			}
		}
	}
	before, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := jsmf.Published(6).Fit(before, c); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
	m := fit(t, jsmf.Published(3).Rectify(rectify.None{}), c)
	if _, err := jsmf.Published(3).Evaluate(before, m, c); !errors.Is(err, context.Canceled) {
		t.Errorf("evaluation cancelled before: %v", err)
	}
	goleak.VerifyNone(t)
}

func matrixOf(t testing.TB, a mat.Matrix) *cooc.Dense {
	t.Helper()
	d, err := cooc.NewDense(a)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// From a matrix without noise the planted model comes back, through all forms.
func TestFitMatrixPlanted(t *testing.T) {
	testutil.NotWithRace(t)
	pm := testutil.NewPlanted(120, 9, 0.8, 41)
	low, err := cooc.NewLowRankSparse(pm.Y(), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for form, c := range map[string]cooc.Matrix{"dense": matrixOf(t, pm.C), "low-rank + sparse": low, "caller's": foreign{m: low}} {
		for _, r := range []rectify.Rectifier{rectify.AP{}, rectify.DC{Halvings: 3}, rectify.None{}} {
			m, err := jsmf.Published(9).Rectify(r).Fit(ctx, c)
			if err != nil {
				t.Errorf("%s, %v: %v", form, r, err)
				continue
			}
			errB, errA, err := pm.Errors(m.Anchors(), m.Topics(), m.Correlations())
			if err != nil || errB > 1e-8 || errA > 1e-8 {
				t.Errorf("%s, %v: B is off by %.2g, A by %.2g, %v", form, r, errB, errA, err)
			}
			if st := m.Stats(); st.Cooc.Form != form || st.Cooc.N != 120 || st.Warnings != nil || st.Corpus.Documents != 0 {
				t.Errorf("%s, %v: %+v", form, r, st)
			}
			if m.Vocabulary() != nil || m.Word(7) != "7" {
				t.Errorf("word 7 is %q", m.Word(7))
			}
		}
	}
}

// A caller's sparse matrix, which has no low-rank part before rectification.
func TestFitSparseMatrix(t *testing.T) {
	pm := testutil.NewPlanted(40, 4, 0.5, 45)
	ptr, cols, vals := []int{0}, []int32(nil), []float64(nil)
	for i := range 40 {
		for j, v := range pm.C.RawRowView(i) {
			cols, vals = append(cols, int32(j)), append(vals, v)
		}
		ptr = append(ptr, len(cols))
	}
	s, err := cooc.NewSparse(40, ptr, cols, vals)
	if err != nil {
		t.Fatal(err)
	}
	c, err := cooc.NewLowRankSparse(nil, 0, s)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []rectify.Rectifier{rectify.AP{}, rectify.DC{Halvings: 3}, rectify.None{}} {
		m, err := jsmf.Published(4).Rectify(r).Fit(ctx, c)
		if err != nil {
			t.Errorf("%v: %v", r, err)
			continue
		}
		if errB, errA, err := pm.Errors(m.Anchors(), m.Topics(), m.Correlations()); err != nil || errB > 1e-8 || errA > 1e-8 {
			t.Errorf("%v: B is off by %.2g, A by %.2g, %v", r, errB, errA, err)
		}
	}
}

// foreign is a Matrix of another package, with faults to order.
type foreign struct {
	m     cooc.Matrix
	spoil func(y *mat.Dense) // a product
	marg  func(c []float64)
}

func (f foreign) Dim() int { return f.m.Dim() }
func (f foreign) MulTo(ctx context.Context, dst, x *mat.Dense, workers int) error {
	err := f.m.MulTo(ctx, dst, x, workers)
	if f.spoil != nil {
		f.spoil(dst)
	}
	return err
}
func (f foreign) Marginals() []float64 {
	c := slices.Clone(f.m.Marginals())
	if f.marg != nil {
		f.marg(c)
	}
	return c
}
func (f foreign) Info() corpus.Info          { return corpus.Info{} }
func (f foreign) RowTo(dst []float64, i int) { f.m.RowTo(dst, i) }
func (f foreign) RowNorms2(ctx context.Context, workers int) ([]float64, error) {
	return f.m.RowNorms2(ctx, workers)
}

// named gives the words of a matrix names.
func named(t testing.TB, c cooc.Operator, words []string) cooc.Operator {
	t.Helper()
	out, err := cooc.WithInfo(c, corpus.Info{Vocabulary: words})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestFitMatrixBad(t *testing.T) {
	pm := testutil.NewPlanted(30, 3, 0, 42)
	good := matrixOf(t, pm.C)
	scaled := mat.NewDense(30, 30, nil)
	scaled.Scale(2, pm.C)
	negative := mat.DenseCopyOf(pm.C)
	for j := range 30 {
		negative.Set(4, j, -0.001)
		negative.Set(j, 4, -0.001)
	}
	shear := func(y *mat.Dense) { // as of a matrix with C_01 enlarged
		for j := 1; j < y.RawMatrix().Cols; j++ {
			y.Set(0, j, y.At(0, j)+1e-4*float64(j))
		}
	}
	for _, c := range []struct {
		name string
		p    jsmf.Pipeline
		c    cooc.Matrix
		want string
	}{
		{"sum", jsmf.Published(3), matrixOf(t, scaled), "sum to 2, not 1"},
		{"negative row", jsmf.Published(3), matrixOf(t, negative), "row 4 of the matrix sums to -0.03"},
		{"K > N", jsmf.Published(31), good, "31 topics of 30 words"},
		{"foreign NaN", jsmf.Published(3), foreign{good, func(y *mat.Dense) { y.Set(3, 1, math.NaN()) }, nil}, "row 3 of the matrix"},
		{"foreign Inf", jsmf.Published(3), foreign{good, func(y *mat.Dense) { y.Set(5, 0, math.Inf(1)) }, nil}, "row 5 of the matrix"},
		{"foreign asymmetric", jsmf.Published(3), foreign{good, shear, nil}, "not symmetric"},
		{"foreign marginals", jsmf.Published(3), foreign{good, nil, func(c []float64) { c[2] *= 1.01 }}, "row 2 of the matrix sums to"},
		{"document frequencies", jsmf.Published(3).Anchors(anchor.QR{MinDocs: 2}), good, "document frequencies"},
	} {
		_, err := c.p.Fit(ctx, c.c)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Count(err.Error(), "jsmf: ") != 1 {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if _, err := jsmf.Published(31).Fit(ctx, good); err == nil || err.Error() != "jsmf: 31 topics of 30 words; K must lie in [2, N]" {
		t.Errorf("K > N: %v", err)
	}
	if _, err := jsmf.Published(3).Fit(ctx, foreign{good, shear, nil}); !errors.Is(err, cooc.ErrNotSymmetric) {
		t.Errorf("asymmetric: %v", err)
	}
	// Numbers that are no numbers do not get that far.
	bad := mat.DenseCopyOf(pm.C)
	bad.Set(1, 2, math.NaN())
	if _, err := cooc.NewDense(bad); !errors.Is(err, cooc.ErrNotFinite) {
		t.Errorf("NaN: %v", err)
	}
}

// K above the rank of a planted matrix is an error that says the rank; on
// request, or with an iteration that cannot tell noise from topics, fewer.
func TestRank(t *testing.T) {
	testutil.NotWithRace(t)
	pm := testutil.NewPlanted(80, 5, 0.5, 43)
	for _, r := range []rectify.Rectifier{rectify.None{}, rectify.AP{}, rectify.DC{Halvings: 3}} {
		p := jsmf.Published(10).Rectify(r)
		_, err := p.Fit(ctx, matrixOf(t, pm.C))
		var re *anchor.RankError
		if !errors.As(err, &re) || re.Rank != 5 || re.K != 10 || !strings.HasPrefix(err.Error(), "jsmf: anchor: ") {
			t.Errorf("%v: %v", r, err)
		}
		m, err := p.Anchors(anchor.QR{AllowFewer: true}).Fit(ctx, matrixOf(t, pm.C))
		if err != nil {
			t.Errorf("%v: %v", r, err)
			continue
		}
		st := m.Stats()
		if _, err := pm.Topics(m.Anchors()); err != nil || m.K() != 5 || st.Anchors.Requested != 10 || st.Anchors.K != 5 {
			t.Errorf("%v: %d topics, %v, %+v", r, m.K(), err, st.Anchors)
		}
		if len(st.Warnings) != 1 || !strings.Contains(st.Warnings[0], "5 topics instead of the 10") {
			t.Errorf("%v: warnings %q", r, st.Warnings)
		}
	}
	// One topic is none.
	one, err := cooc.NewLowRankSparse(mat.NewDense(3, 1, []float64{0.5, 0.3, 0.2}), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := jsmf.Published(2).Rectify(rectify.None{}).Anchors(anchor.QR{AllowFewer: true}).Fit(ctx, one); err == nil || !strings.Contains(err.Error(), "fewer than the 2 anchors") {
		t.Errorf("rank 1: %v", err)
	}
}

// Words with empty rows keep their number and are in no topic; the others have
// the model that they have alone.
func TestEmptyRows(t *testing.T) {
	pm := testutil.NewPlanted(50, 4, 0.3, 44)
	at := []int{} // new numbers of the words
	for i := range 50 {
		at = append(at, i+i/10+1) // 0, 11, 22, … are empty
	}
	n := 56
	a, y := mat.NewDense(n, n, nil), mat.NewDense(n, 4, nil)
	vocab := make([]string, n)
	for i, w := range at {
		for j, v := range at {
			a.Set(w, v, pm.C.At(i, j))
		}
		y.SetRow(w, pm.Y().RawRowView(i))
	}
	for i := range vocab {
		vocab[i] = fmt.Sprintf("w%d", i)
	}
	low, err := cooc.NewLowRankSparse(y, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []rectify.Rectifier{rectify.AP{}, rectify.None{}} {
		if _, err := jsmf.Published(4).Rectify(r).Fit(ctx, foreign{m: low}); err == nil || !strings.Contains(err.Error(), "empty rows") {
			t.Errorf("%v: empty rows of a matrix of another package: %v", r, err)
		}
		for _, c := range []cooc.Matrix{matrixOf(t, a), low} {
			t.Run(fmt.Sprintf("%v, %T", r, c), func(t *testing.T) {
				m, err := jsmf.Published(4).Rectify(r).Fit(ctx, named(t, c, vocab))
				if err != nil {
					t.Fatal(err)
				}
				if m.N() != n || m.Word(11) != "w11" {
					t.Fatalf("%d words, word 11 is %q", m.N(), m.Word(11))
				}
				if w := m.Stats().Warnings; len(w) != 1 || !strings.Contains(w[0], "6 of 56 words have an empty row in the matrix") {
					t.Errorf("warnings %q", w)
				}
				moved := make([]int, 4)
				for k, w := range m.Anchors() {
					if moved[k] = slices.Index(at, w); moved[k] < 0 {
						t.Fatalf("word %d has no row and is an anchor", w)
					}
				}
				b := mat.NewDense(50, 4, nil)
				for i, w := range at {
					for k := range 4 {
						b.Set(i, k, m.Topics().At(w, k))
					}
				}
				if errB, errA, err := pm.Errors(moved, b, m.Correlations()); err != nil || errB > 1e-8 || errA > 1e-8 {
					t.Errorf("B is off by %.2g, A by %.2g, %v", errB, errA, err)
				}
				for i := 0; i < n; i += 11 {
					for k := range 4 {
						if m.Topics().At(i, k) != 0 || m.WordTopics().At(i, k) != 0 || m.Marginals()[i] != 0 {
							t.Errorf("word %d has no row and is in topic %d", i, k)
						}
					}
				}
				if got, err := jsmf.ReadModel(bytes.NewReader(encoded(t, m))); err != nil || got.N() != n {
					t.Errorf("saved and read: %v", err)
				}
			})
		}
	}
	// The means of Stats are over all words, the empty ones too.
	_, docs := planted(50, 4, 200)
	cm, err := cooc.NewMoments(ctx, countsCorpus(t, 50, docs), cooc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	padded, err := cooc.NewMoments(ctx, countsCorpus(t, 75, docs), cooc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := jsmf.Published(4)
	m50, err := p.Fit(ctx, cm)
	if err != nil {
		t.Fatal(err)
	}
	m75, err := p.Fit(ctx, padded)
	if err != nil {
		t.Fatal(err)
	}
	few, all := m50.Stats().Recover, m75.Stats().Recover
	near(t, "mean objective", all.Objective, few.Objective*50/75, 1e-12*few.Objective)
	near(t, "mean residual", all.MeanResidual, few.MeanResidual*50/75, 1e-12*few.MeanResidual)
	if few.Words != 46 || all.Words != 46 || few.MaxResidual != all.MaxResidual {
		t.Errorf("%+v and %+v", few, all)
	}

	if _, err := jsmf.Published(51).Fit(ctx, matrixOf(t, a)); err == nil || !strings.Contains(err.Error(), "51 topics of 50 words") {
		t.Errorf("more topics than rows: %v", err)
	}
}

// Short documents and words that then occur nowhere are left out and named.
func TestFitCorpusOfAllKinds(t *testing.T) {
	_, docs := planted(60, 4, 300)
	c := countsCorpus(t, 60, docs)
	want := fit(t, jsmf.Published(4), c)
	if st := want.Stats(); st.Corpus.DroppedDocuments != nil || st.Corpus.DroppedWords != nil || st.Warnings != nil {
		t.Fatalf("%+v", st.Corpus)
	}

	// Two words more: one occurs nowhere, one in a document of 4 tokens.
	more := slices.Clone(docs)
	more = slices.Insert(more, 10, map[int]int{})
	more = slices.Insert(more, 100, map[int]int{61: 3, 2: 1})
	more = append(more, map[int]int{0: 1})
	spoiled := countsCorpus(t, 62, more)
	m := fit(t, jsmf.Published(4), spoiled)
	if m.N() != 60 || !slices.Equal(m.Vocabulary(), want.Vocabulary()) {
		t.Fatalf("%d words", m.N())
	}
	if _, ok := m.Index("w60"); ok {
		t.Error("a word that never occurs is in the model")
	}
	if !mat.Equal(m.Topics(), want.Topics()) || !mat.Equal(m.Correlations(), want.Correlations()) || !slices.Equal(m.Anchors(), want.Anchors()) {
		t.Error("documents without pairs change the model")
	}
	st := m.Stats()
	if d := st.Corpus.DroppedDocuments; len(d) != 1 || d[0].Count != 3 || !slices.Equal(d[0].Names, []string{"11", "101", "303"}) || !strings.Contains(d[0].Reason, "5 tokens") {
		t.Errorf("documents %+v", d)
	}
	if d := st.Corpus.DroppedWords; len(d) != 1 || d[0].Count != 2 || !slices.Equal(d[0].Names, []string{"w60", "w61"}) {
		t.Errorf("words %+v", d)
	}
	if len(st.Warnings) != 2 {
		t.Errorf("warnings %q", st.Warnings)
	}
	if st.Corpus.Documents != 300 || st.Corpus.Words != 60 || st.Corpus.Tokens != c.Tokens() || st.Corpus.NNZ != c.NNZ() {
		t.Errorf("%+v", st.Corpus)
	}
	// Evaluated on either corpus it is the same.
	a, err := jsmf.Published(4).Evaluate(ctx, m, spoiled)
	if err != nil {
		t.Fatal(err)
	}
	b, err := jsmf.Published(4).Evaluate(ctx, want, c)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(a.Keyed()) != fmt.Sprint(b.Keyed()) {
		t.Errorf("metrics %v and %v", a.Keyed(), b.Keyed())
	}

	// With shorter documents allowed the word is in.
	if m := fit(t, jsmf.Published(4), counted(t, spoiled, cooc.Options{MinTokens: 4})); m.N() != 61 || m.Stats().Corpus.Documents != 301 {
		t.Errorf("%d words, %d documents", m.N(), m.Stats().Corpus.Documents)
	}
}

func TestFitBad(t *testing.T) {
	_, docs := planted(60, 4, 100)
	short := countsCorpus(t, 3, []map[int]int{{0: 1}, {1: 1, 2: 2}})
	var r recording
	_, err := jsmf.Published(2).Record(r.Record).Fit(ctx, short)
	if !errors.Is(err, cooc.ErrNoDocuments) || strings.Count(err.Error(), "jsmf: ") != 1 {
		t.Errorf("no usable document: %v", err)
	}
	r.order(t, err, jsmf.StageCooc)

	r = recording{}
	_, err = jsmf.Published(70).Record(r.Record).Fit(ctx, countsCorpus(t, 75, docs)) // 15 words never occur
	if err == nil || err.Error() != "jsmf: 70 topics of 60 words; K must lie in [2, N]" {
		t.Errorf("more topics than words: %v", err)
	}
	r.order(t, err, jsmf.StageCooc)
}

// A corpus and its moments give the same model, document frequencies included.
func TestFitOfMoments(t *testing.T) {
	_, docs := planted(60, 4, 300)
	c := countsCorpus(t, 60, docs)
	cm, err := cooc.NewMoments(ctx, c, cooc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := jsmf.Published(4).Anchors(anchor.QR{MinDocFraction: 0.2})
	a := fit(t, p, c)
	b, err := p.Fit(ctx, cm)
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(a.Topics(), b.Topics()) || !mat.Equal(a.Correlations(), b.Correlations()) || !slices.Equal(jsmf.AnchorWords(a), jsmf.AnchorWords(b)) || !slices.Equal(a.Vocabulary(), b.Vocabulary()) {
		t.Error("two ways to the same matrix give two models")
	}
	want := 0
	for _, df := range c.DocFrequencies() {
		if df >= 60 {
			want++
		}
	}
	if x, y := a.Stats().Anchors.Candidates, b.Stats().Anchors.Candidates; want == 60 || x != want || y != want {
		t.Errorf("%d and %d candidates, want %d", x, y, want)
	}
}

// Renaming and reordering words and documents does so to the model: to 1e-10
// with eigenpairs to 1e-12, and with those to 1e-5 of the default to 1e-5.
func TestEquivariance(t *testing.T) {
	testutil.NotWithRace(t)
	_, docs := planted(80, 5, 400)
	c := countsCorpus(t, 80, docs)
	rng := rand.New(rand.NewPCG(1, 2))
	words, order := rng.Perm(80), rng.Perm(400)
	moved, err := c.Select(order, words)
	if err != nil {
		t.Fatal(err)
	}
	for _, tol := range []float64{0, 1e-12} {
		t.Run(fmt.Sprint("EigenTol ", tol), func(t *testing.T) {
			p := jsmf.Published(5).Rectify(rectify.AP{EigenTol: tol})
			a, b := fit(t, p, c), fit(t, p, moved)
			if !slices.Equal(jsmf.AnchorWords(a), jsmf.AnchorWords(b)) {
				t.Fatalf("anchors %v, after renaming %v", jsmf.AnchorWords(a), jsmf.AnchorWords(b))
			}
			near := 1e-5
			if tol > 0 {
				near = 1e-10
			}
			for i, w := range words {
				for k := range 5 {
					if x, y := b.Topics().At(i, k), a.Topics().At(w, k); math.Abs(x-y) > near {
						t.Errorf("p(%s | topic %d) = %g, after renaming %g", c.Word(w), k, y, x)
					}
				}
			}
			if !mat.EqualApprox(a.Correlations(), b.Correlations(), near) {
				t.Error("correlations differ")
			}
		})
	}
}

// Evaluate is the metrics of the parts, and finds words by name.
func TestEvaluate(t *testing.T) {
	_, docs := planted(60, 4, 300)
	c := countsCorpus(t, 60, docs)
	p := jsmf.Published(4)
	m := fit(t, p, c)
	got, err := p.Evaluate(ctx, m, c)
	if err != nil {
		t.Fatal(err)
	}
	cm, err := cooc.NewMoments(ctx, c, cooc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := mat.DenseCopyOf(m.Topics())
	pairs, err := cooc.CountPairs(ctx, c, metrics.TopUnion(b, 0))
	if err != nil {
		t.Fatal(err)
	}
	want, err := metrics.Evaluate(ctx, metrics.Factors{C: cm, WordTopics: mat.DenseCopyOf(m.WordTopics()), B: b, A: m.Correlations(), Anchors: m.Anchors(), Pairs: pairs})
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got.Keyed()) != fmt.Sprint(want.Keyed()) || len(got.Keyed()) < 16 {
		t.Errorf("%v, want %v", got.Keyed(), want.Keyed())
	}
	same := func(name string, m *jsmf.Model, c *corpus.Corpus) {
		t.Helper()
		r, err := p.Evaluate(ctx, m, c)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i, kv := range r.Keyed() {
			w := got.Keyed()[i]
			near(t, name+": "+kv.Key, kv.Mean, w.Mean, 1e-12*max(1, math.Abs(w.Mean)))
		}
	}
	// Words in another order.
	words := rand.New(rand.NewPCG(3, 4)).Perm(60)
	moved, err := c.Select(nil, words)
	if err != nil {
		t.Fatal(err)
	}
	same("other order", m, moved)
	// A model without a vocabulary goes by number.
	nameless, err := p.Fit(ctx, cm)
	if err != nil {
		t.Fatal(err)
	}
	same("no vocabulary", nameless, c)
	less, err := c.Select(nil, []int{0, 1, 2, 4, 5})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Evaluate(ctx, m, less); err == nil || !strings.Contains(err.Error(), `"w3"`) || strings.Count(err.Error(), "jsmf: ") != 1 {
		t.Errorf("a word is missing: %v", err)
	}
	if _, err := p.Evaluate(ctx, nil, c); err == nil {
		t.Error("no model was evaluated")
	}
	if _, err := p.Evaluate(ctx, m, nil); err == nil {
		t.Error("a model was evaluated on nothing")
	}
	short := countsCorpus(t, c.NumWords(), []map[int]int{{0: 1, 1: 2}})
	if _, err := p.Evaluate(ctx, nameless, short); !errors.Is(err, cooc.ErrNoDocuments) {
		t.Errorf("no document is long enough: %v", err)
	}
}

// One Pipeline and one Model serve many goroutines; the race detector watches.
func TestConcurrent(t *testing.T) {
	_, docs := planted(60, 4, 150)
	c := countsCorpus(t, 60, docs)
	var r recording
	p := jsmf.Published(4).Record(r.Record)
	shared := fit(t, p, c)
	want := encoded(t, shared)
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			m, err := p.Workers(2).Fit(ctx, c)
			if err != nil {
				t.Error(err)
				return
			}
			if !bytes.Equal(encoded(t, m), want) {
				t.Error("concurrent fits differ")
			}
			for k := range shared.K() {
				shared.TopWords(k, 5)
			}
			shared.Index("w3")
			shared.TopicShares()
			shared.CorrelatedPairs(3)
			st := shared.Stats()
			st.Anchors.Norms[0] = -1 // a copy
			if !bytes.Equal(encoded(t, shared), want) {
				t.Error("the shared model changed")
			}
			if _, err := p.Evaluate(ctx, shared, c); err != nil {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
}

// A solver that is stopped is a warning and a status, not an error.
func TestSolverLimit(t *testing.T) {
	_, docs := planted(60, 4, 300)
	m := fit(t, jsmf.Published(4).Recover(recovery.SCLS{Solver: scls.ExpGrad{MaxIterations: 1}}), countsCorpus(t, 60, docs))
	st := m.Stats()
	limited := st.Recover.Limited
	if limited == 0 || len(st.Warnings) == 0 || !strings.Contains(st.Warnings[0], fmt.Sprintf("for %d of 56 words", limited)) {
		t.Errorf("%+v, %q", st.Recover, st.Warnings)
	}
}

func TestMomentsServeSeveralFits(t *testing.T) {
	c := some(t, 1000, 600)
	p := jsmf.Published(5)
	d, err := cooc.NewMoments(ctx, c, cooc.Options{DropUnused: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []int{5, 12} {
		t.Run(fmt.Sprint("K=", k), func(t *testing.T) {
			q := jsmf.Published(k).Anchors(anchor.QR{MinDocFraction: 0.02})
			want, err := q.Fit(ctx, c)
			if err != nil {
				t.Fatal(err)
			}
			got, err := q.Fit(ctx, d)
			if err != nil {
				t.Fatal(err)
			}
			var a, b bytes.Buffer
			if _, err := want.WriteTo(&a); err != nil {
				t.Fatal(err)
			}
			if _, err := got.WriteTo(&b); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(a.Bytes(), b.Bytes()) {
				t.Error("the moments give another model")
			}
			r1, err := q.Evaluate(ctx, want, c)
			if err != nil {
				t.Fatal(err)
			}
			r2, err := q.Evaluate(ctx, got, d)
			if err != nil {
				t.Fatal(err)
			}
			x, y := r1.Keyed(), r2.Keyed()
			for i := range x {
				if x[i] != y[i] {
					t.Errorf("%v and %v", x[i], y[i])
				}
			}
		})
	}
	if _, err := jsmf.Published(601).Fit(ctx, d); err == nil || !strings.Contains(err.Error(), "601 topics of 600 words") {
		t.Errorf("K > N: %v", err)
	}
	small, err := c.Select(nil, []int{0, 1, 2, 3, 4, 5, 6, 7})
	if err != nil {
		t.Fatal(err)
	}
	m, err := jsmf.Published(2).Fit(ctx, small)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Evaluate(ctx, m, d); err == nil {
		t.Error("a model of other words was evaluated")
	}
}

// Published takes encoded documents, in memory or in a file, with weights or without, and
// any other documents that are not in memory. The topics are those of the same documents
// in memory, of which LR also asks for products only: these are summed in other orders.
func TestPublishedOfEncoded(t *testing.T) {
	testutil.NotWithRace(t)
	plain := some(t, 1000, 200)
	weights := make([]float64, plain.NumDocs())
	for m := range weights {
		weights[m] = 1 + float64(m%4)
	}
	weighted, err := plain.WithWeights(weights)
	if err != nil {
		t.Fatal(err)
	}
	p := jsmf.Published(10).Anchors(anchor.QR{MinDocFraction: 0.01})
	for name, c := range map[string]*corpus.Corpus{"plain": plain, "weighted": weighted} {
		want := fit(t, p.Rectify(rectify.LR{}), c)
		file, err := corpus.EncodeFile(ctx, c.Source(), filepath.Join(t.TempDir(), "docs.jenc"))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		e, err := corpus.Encode(ctx, c.Source())
		if err != nil {
			t.Fatal(err)
		}
		for form, in := range map[string]jsmf.Input{"memory": e, "file": file, "source": readAgain{c.Source()}} {
			t.Run(name+"/"+form, func(t *testing.T) {
				m := fit(t, p, in)
				st, ws := m.Stats(), want.Stats()
				if !strings.HasPrefix(st.Rectify.Method, "LR(") || st.Rectify.Passes != ws.Rectify.Passes || st.Cooc.Form != "encoded" {
					t.Errorf("method %s, %d passes, form %q; want LR, %d and encoded", st.Rectify.Method, st.Rectify.Passes, st.Cooc.Form, ws.Rectify.Passes)
				}
				if fmt.Sprint(st.Corpus) != fmt.Sprint(ws.Corpus) {
					t.Errorf("documents %+v, want %+v", st.Corpus, ws.Corpus)
				}
				if !slices.Equal(jsmf.AnchorWords(m), jsmf.AnchorWords(want)) {
					t.Errorf("anchors %v, want %v", jsmf.AnchorWords(m), jsmf.AnchorWords(want))
				}
				var diff mat.Dense
				diff.Sub(m.Topics(), want.Topics())
				if d := max(mat.Max(&diff), -mat.Min(&diff)); d > 1e-5 { // eigenpairs are known to 1e-5
					t.Errorf("the topics differ by %g", d)
				}
			})
		}
		if _, err := p.Rectify(rectify.AP{}).Fit(ctx, e); err == nil || !strings.Contains(err.Error(), "use LR, or documents in memory") {
			t.Errorf("AP, which needs rows: %v", err)
		}
	}
}

// Two anchors that are in no document together, each once in its own, leave A
// empty.
func TestWarnsOfAModelThatDoesNotFit(t *testing.T) {
	var b corpus.Builder
	for _, d := range []string{"a b c d e", "a b f g h", "a f c i e"} {
		if err := b.AddTokens("", "", strings.Fields(d)); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	m, err := jsmf.Published(2).Rectify(rectify.None{}).Fit(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	if w := m.Stats().Warnings; len(w) != 3 || !strings.Contains(w[0], "sum to 0 and not to about 1") || !strings.Contains(w[1], "cannot infer the topics of documents") ||
		w[2] != "fewer topics would do: topic 0 (a · f · c) has a share of 0, 1 (g · b · e) has a share of 0" {
		t.Errorf("warnings %q", w)
	}
}
