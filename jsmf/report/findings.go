package report

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/jsmf-go/spectral/internal/console"
	"github.com/jsmf-go/spectral/internal/vec"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/effects"
	"github.com/jsmf-go/spectral/metrics"
)

// Finding is a sentence or two on what was found.
type Finding struct {
	Text  string // plain text; names of topics stand in “ ”
	Place string // where the page of Write shows more, as a link: "#topics"

	// Curves are a small picture of what the text is about, over Labels: the largest topics and their
	// shares, the bins of time and the shares of a topic in each, the levels of a column and the shares
	// of a topic at each, or pairs of topics and their correlations. What is not known is NaN, a number
	// or the ends of its interval. nil where there is nothing to draw.
	Labels []string
	Curves []Curve
	Kind   CurveKind
}

// Curve is a row of numbers of a Finding, one for each of its Labels.
type Curve struct {
	Name   string // of its topic; "" where Labels are topics
	Values []jsmf.Interval
}

// CurveKind is what the numbers of a Finding are.
type CurveKind string

const (
	Shares       CurveKind = "shares"       // of topics, or of a topic at each level of a column
	Trends       CurveKind = "trends"       // shares of topics in bins of time, in order
	Correlations CurveKind = "correlations" // of pairs of topics
)

// Findings returns what the model says in short: what the documents are about, what rose and fell, what
// differs by class, what goes together, and what is doubtful. These are the sentences with which the
// page of Write begins. A sentence is left out where the model and the options have nothing on it.
//
// All but the last speak only of topics that are sound, if there are verdicts, and stable, if fits
// were repeated (jsmf.Uncertainty). A change, a difference or a correlation is told if its interval leaves out zero
// even when it is widened for all numbers that were looked at (Bonferroni), and if it does not turn
// around when it is adjusted for other columns. The intervals told are not widened. Correlations
// without intervals are told if they are larger than chance would make them in as many documents.
//
// Errors are those of Write. O(K²) besides the pairs, levels and bins.
func Findings(m *jsmf.Model, o Options) ([]Finding, error) {
	if m == nil {
		return nil, errors.New("report: no model")
	}
	if err := o.check(m); err != nil {
		return nil, wrap(err)
	}
	return findings(m, &o), nil
}

func findings(m *jsmf.Model, o *Options) []Finding {
	f := &finder{m: m, e: o.Effects, u: m.Additions().Uncertainty, say: speech(o.Nouns.phrases())}
	for _, name := range m.Names() {
		f.names = append(f.names, atMost(name, nameLength))
	}
	f.rely(judged(m, o))
	f.about()
	if len(f.topics) > 0 {
		if f.e != nil {
			f.trends()
			f.classes()
		}
		f.together()
	}
	f.doubts()
	return f.out
}

// finder collects findings.
type finder struct {
	m      *jsmf.Model
	e      *effects.Effects  // nil: none
	u      *jsmf.Uncertainty // nil: not known
	names  []string
	say    *strings.Replacer
	topics []int  // that can be relied on, by decreasing share
	good   string // what these are: "sound and stable", or "" where nothing is known of it
	called string // with that, "topics"
	doubt  string // how many others there are, and why
	out    []Finding
}

func (f *finder) add(x Finding, format string, args ...any) {
	x.Text = fmt.Sprintf(f.say.Replace(format), args...)
	f.out = append(f.out, x)
}

// quoted is the name of a topic in a sentence.
func (f *finder) quoted(k int) string { return "“" + f.names[k] + "”" }

// rely fills in topics, good, called and doubt.
func (f *finder) rely(verdicts []metrics.Verdict) {
	shares, background := f.m.TopicShares(), f.m.Background()
	bad, unsound, unstable := map[metrics.Quality]int{}, 0, 0
	stable := f.u != nil && f.u.Cold > 0
	for _, k := range vec.Order(f.m.K(), func(k int) float64 { return shares[k] }) {
		q := metrics.Sound
		if verdicts != nil {
			q = verdicts[k].Quality
		} else if background[k] {
			q = metrics.Background
		}
		switch {
		case q != metrics.Sound:
			bad[q]++
			unsound++
		case stable && !f.u.Topics[k].Stable():
			unstable++
		default:
			f.topics = append(f.topics, k)
		}
	}
	var good, reasons, why []string
	for q := metrics.Sound; q <= metrics.Boilerplate; q++ {
		if bad[q] > 0 {
			reasons = append(reasons, fmt.Sprintf("%d %v", bad[q], q))
		}
	}
	if verdicts != nil {
		good = append(good, "sound")
	}
	if stable {
		good = append(good, "stable")
	}
	if unsound > 0 {
		why = append(why, fmt.Sprintf("%d are not sound (%s)", unsound, strings.Join(reasons, ", ")))
	}
	if unstable > 0 {
		why = append(why, fmt.Sprintf("%d came back in fewer than three of four new fits", unstable))
	}
	f.good, f.doubt = strings.Join(good, " and "), strings.Join(why, ", and ")
	f.called = strings.TrimSpace(f.good + " topics")
}

// share is that of a topic, with its interval if that is known.
func (f *finder) share(k int) jsmf.Interval {
	if f.u != nil {
		return f.u.Topics[k].Share
	}
	return jsmf.Interval{Value: f.m.TopicShares()[k], Low: math.NaN(), High: math.NaN(), Bias: math.NaN()}
}

// percents writes a share with its interval.
func percents(x jsmf.Interval) string {
	return x.Text(func(v float64) string { return console.Number("%.1f", 100*v) }, " %")
}

// about tells the largest topics.
func (f *finder) about() {
	const told, drawn = 3, 5
	if len(f.topics) == 0 {
		f.add(Finding{Place: "#topics"}, "None of %d topics is %s, so that nothing is said of single ones.", f.m.K(), cmp.Or(f.good, "about a subject"))
		return
	}
	x, c := Finding{Place: "#topics", Kind: Shares}, Curve{}
	var parts []string
	for i, k := range f.topics[:min(len(f.topics), drawn)] {
		s := f.share(k)
		x.Labels, c.Values = append(x.Labels, f.names[k]), append(c.Values, s)
		if i < told {
			text := percents(s)
			if f.u == nil {
				text = percent(s.Value)
			}
			parts = append(parts, f.quoted(k)+" with "+text)
		}
	}
	x.Curves = []Curve{c}
	in := "The"
	if n := f.m.Stats().Corpus.Documents; n > 0 {
		in = "In " + count(int64(n)) + " {documents}, the"
	}
	if len(parts) == 1 {
		f.add(x, in+" only one of %d topics to rely on is %s of {a document} on average.", f.m.K(), parts[0])
		return
	}
	f.add(x, in+" largest of %d %s are %s of {a document} on average.", len(f.topics), f.called, listing(parts))
}

// listing joins parts as in “a, b and c”.
func listing(parts []string) string {
	last := len(parts) - 1
	if last < 1 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}

// surely returns the end of the interval that is nearer to zero once the interval is widened for n numbers of
// which any may be told, and 0 if it then holds zero or is not known.
func surely(x jsmf.Interval, level float64, replicates, n int) float64 {
	t := distuv.StudentsT{Sigma: 1, Nu: float64(max(replicates-1, 1))}
	wider := t.Quantile(1-(1-level)/2/float64(n)) / t.Quantile((1+level)/2)
	if low := x.Value - wider*(x.Value-x.Low); low > 0 {
		return low
	}
	if high := x.Value + wider*(x.High-x.Value); high < 0 {
		return high
	}
	return 0
}

// matched returns the topics whose effects can be relied on, too.
func (f *finder) matched() []int {
	return slices.DeleteFunc(slices.Clone(f.topics), func(k int) bool { return 2*f.e.Unmatched[k] > f.e.Replicates })
}

// turns reports whether a number of a raw term is of the other sign where the term is adjusted.
func (f *finder) turns(raw *effects.TermEffects, number func(*effects.TermEffects) float64) bool {
	return slices.ContainsFunc(f.e.Terms, func(t effects.TermEffects) bool {
		return t.Name == raw.Name && t.AdjustedFor != nil && number(&t)*number(raw) < 0
	})
}

// trends tells what rose and fell over time.
func (f *finder) trends() {
	at := slices.IndexFunc(f.e.Terms, func(t effects.TermEffects) bool { return t.Kind == effects.Times && t.AdjustedFor == nil })
	topics := f.matched()
	if at < 0 || len(topics) == 0 {
		return
	}
	t := &f.e.Terms[at]
	first, last := t.Ends()
	if first == last {
		f.add(Finding{Place: "#time"}, "There are too few {documents} in the bins of %s to tell what rose and fell.", t.Name)
		return
	}
	rose, fell := ranked{}, ranked{}
	for _, k := range topics {
		v := surely(t.Change(k), f.e.Level, f.e.Replicates, len(topics))
		if f.turns(t, func(t *effects.TermEffects) float64 { return t.Change(k).Value }) {
			v = 0
		}
		rose.add(v, k, 0)
		fell.add(-v, k, 0)
	}
	between := fmt.Sprintf("Between %s and %s", t.Points[first].Label, t.Points[last].Label)
	if rose.n+fell.n == 0 {
		f.add(Finding{Place: "#time"}, "%s no rise or fall of a topic is certain.", between)
		return
	}
	x := Finding{Place: "#time", Kind: Trends}
	for _, p := range t.Points {
		x.Labels = append(x.Labels, p.Label)
	}
	var parts []string
	for _, r := range []struct {
		ranked
		did string
	}{{rose, "rose"}, {fell, "fell"}} {
		if r.n == 0 {
			continue
		}
		k := r.topic
		parts = append(parts, fmt.Sprintf("%s %s from %s to %s", f.quoted(k), r.did, percents(t.Predictions[first][k]), percents(t.Predictions[last][k])))
		x.Curves = append(x.Curves, f.curve(t, k))
	}
	f.add(x, "%s %s. Of %d %s %d rose for certain and %d fell.", between, listing(parts), len(topics), f.called, rose.n, fell.n)
}

// curve holds the shares of a topic at the points of a term.
func (f *finder) curve(t *effects.TermEffects, k int) Curve {
	c := Curve{Name: f.names[k]}
	for i := range t.Points {
		c.Values = append(c.Values, t.Predictions[i][k])
	}
	return c
}

// ranked counts what is certain and holds the largest.
type ranked struct {
	n, topic, point int
	v               float64
}

func (r *ranked) add(v float64, topic, point int) {
	if v > 0 {
		r.n++
		if v > r.v {
			r.v, r.topic, r.point = v, topic, point
		}
	}
}

// classes tells the largest difference by class.
func (f *finder) classes() {
	topics := f.matched()
	var raw []*effects.TermEffects
	var names []string
	n := 0
	for i := range f.e.Terms {
		if t := &f.e.Terms[i]; t.Kind == effects.Categories && t.AdjustedFor == nil {
			raw, names = append(raw, t), append(names, t.Name)
			for _, p := range t.Points {
				if !p.Few() {
					n += len(topics)
				}
			}
		}
	}
	if n == 0 {
		return
	}
	best, of := ranked{}, raw[0]
	for _, t := range raw {
		for i, p := range t.Points {
			for _, k := range topics {
				v := surely(t.Differences[i][k], f.e.Level, f.e.Replicates, n)
				if p.Few() || f.turns(t, func(t *effects.TermEffects) float64 { return t.Differences[min(i, len(t.Points)-1)][k].Value }) {
					v = 0
				}
				before := best.v
				if best.add(math.Abs(v), k, i); best.v > before {
					of = t
				}
			}
		}
	}
	if best.n == 0 {
		f.add(Finding{Place: "#effects"}, "No difference of a topic by %s is certain.", listing(names))
		return
	}
	x := Finding{Place: "#effects", Kind: Shares, Curves: []Curve{f.curve(of, best.topic)}}
	for _, p := range of.Points {
		x.Labels = append(x.Labels, p.Label)
	}
	d, more := of.Differences[best.point][best.topic], "more"
	if d.Value < 0 {
		d, more = jsmf.Interval{Value: -d.Value, Low: -d.High, High: -d.Low}, "less"
	}
	f.add(x, "Where %s is %s, %s has %s, %s %s than on average. By %s %d of %d differences are certain.", of.Name, of.Points[best.point].Label, f.quoted(best.topic),
		percents(of.Predictions[best.point][best.topic]), d.Text(func(v float64) string { return console.Number("%.1f", 100*v) }, " points"), more, listing(names), best.n, n)
}

// together tells the two topics that are most certain to share documents.
func (f *finder) together() {
	const drawnPairs = 3
	var pairs []jsmf.PairUncertainty
	documents := f.m.Stats().Corpus.Documents
	switch {
	case f.u != nil:
		pairs = slices.Clone(f.u.Pairs)
	case documents > 0:
		for _, p := range f.m.CorrelatedPairs(-1) {
			nan := math.NaN()
			pairs = append(pairs, jsmf.PairUncertainty{K: p.K, L: p.L, Correlation: jsmf.Interval{Value: p.Correlation, Low: nan, High: nan}})
		}
	}
	reliable := make([]bool, f.m.K())
	for _, k := range f.topics {
		reliable[k] = true
	}
	pairs = slices.DeleteFunc(pairs, func(p jsmf.PairUncertainty) bool { return !reliable[p.K] || !reliable[p.L] })
	sure := make([]float64, len(pairs))
	for i, p := range pairs {
		if f.u != nil {
			sure[i] = surely(p.Correlation, f.u.Level, max(f.u.Warm, f.u.Cold), len(pairs))
		} else if chance := distuv.UnitNormal.Quantile(1-0.025/float64(len(pairs))) / math.Sqrt(float64(documents)); p.Correlation.Value > chance {
			sure[i] = p.Correlation.Value
		}
	}
	certain := vec.Top(len(pairs), len(pairs), func(i int) float64 { return sure[i] })
	if n := slices.IndexFunc(certain, func(i int) bool { return !(sure[i] > 0) }); n >= 0 {
		certain = certain[:n]
	}
	if len(certain) == 0 {
		if len(pairs) > 0 {
			f.add(Finding{Place: "#correlations"}, "Of %d pairs of %s none goes together for certain.", len(pairs), f.called)
		}
		return
	}
	x, c := Finding{Place: "#correlations", Kind: Correlations}, Curve{}
	for _, i := range certain[:min(len(certain), drawnPairs)] {
		p := pairs[i]
		x.Labels, c.Values = append(x.Labels, f.names[p.K]+" – "+f.names[p.L]), append(c.Values, p.Correlation)
	}
	x.Curves = []Curve{c}
	p := pairs[certain[0]]
	write := func(v float64) string { return console.Number("%+.2f", v) }
	text := write(p.Correlation.Value)
	if f.u != nil {
		text = p.Correlation.Text(write, "")
	}
	f.add(x, "%s and %s go together: the correlation of their shares is %s. Of %d pairs of %s %d go together for certain.", f.quoted(p.K), f.quoted(p.L), text, len(pairs), f.called, len(certain))
}

// doubts tells what cannot be relied on.
func (f *finder) doubts() {
	x := Finding{Place: "#quality"}
	if f.doubt != "" {
		f.add(x, "Read with care: of %d topics %s.", f.m.K(), f.doubt)
	} else if f.good != "" {
		f.add(x, "All %d topics are %s.", f.m.K(), f.good)
	}
	withheld := 0
	if f.u != nil {
		for _, t := range f.u.Topics {
			if t.Share.Withheld() {
				withheld++
			}
		}
	}
	also := ""
	switch {
	case f.u == nil:
		also = "Shares and correlations have no intervals: the fit was not repeated."
	case withheld > 0:
		also = fmt.Sprintf("Too little is known for an interval of %d of %d shares.", withheld, f.m.K())
	default:
		return
	}
	if n := len(f.out) - 1; f.doubt != "" || f.good != "" {
		f.out[n].Text += " " + also
	} else {
		f.add(x, "%s", also)
	}
}
