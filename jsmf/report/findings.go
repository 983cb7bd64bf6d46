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
	Text string `json:"-"` // plain text; names of topics stand in “ ”
	// Place is where the page of Write shows more, as a link, and says what the Finding is about: "#topics",
	// "#time", "#effects", "#correlations", "#unexplained" or "#quality".
	Place string `json:"place"`
	// Curves are a small picture, over Labels: the shares of the largest topics, the shares of a topic or two
	// in each bin of time or at each level of a column, or the correlations of pairs. What is not known
	// is NaN, a number or the ends of its interval. nil where there is nothing to draw.
	Labels []string `json:"labels"`
	Curves []Curve  `json:"curves"`
}

// Curve is a row of numbers of a Finding, one for each of its Labels.
type Curve struct {
	Name   string          `json:"name"` // of its topic; "" where Labels are topics
	Values []jsmf.Interval `json:"values"`
}

// Findings returns what the model says in short: what the documents are about, what rose and fell, what
// differs by class, what goes together, how many documents no topic explains, and what is doubtful. The page of Write begins with these sentences.
// One is left out where the model and the options have nothing on it.
//
// All but the last speak only of topics that are sound, if there are verdicts, and stable, if fits
// were repeated (jsmf.Uncertainty). A change, a difference or a correlation is told if its interval leaves out
// zero even when it is widened for all numbers that were looked at (Bonferroni), and if it does not
// turn around when it is adjusted for other columns. The intervals told are not widened. Correlations
// without intervals are told if they are larger than chance would make them in as many documents.
//
// Errors are those of Write. O(K²) besides the levels and bins.
func Findings(m *jsmf.Model, o Options) ([]Finding, error) {
	if m == nil {
		return nil, errors.New("report: no model")
	}
	if err := o.check(m); err != nil {
		return nil, wrap(err)
	}
	return findings(m, &o, unexplained(o.Documents)), nil
}

func findings(m *jsmf.Model, o *Options, noTopic map[string][]int) []Finding {
	f := &finder{m: m, e: o.Effects, u: m.Additions().Uncertainty, shares: toldShares(m), say: speech(o.Nouns.phrases())}
	for _, name := range m.Names() {
		f.names = append(f.names, atMost(name, nameLength))
	}
	doubt := f.rely(judged(m, o))
	f.about()
	if len(f.topics) > 0 {
		if f.e != nil {
			f.matched = slices.DeleteFunc(slices.Clone(f.topics), func(k int) bool { return 2*f.e.Unmatched[k] > f.e.Replicates })
			f.trends()
			f.classes()
		}
		f.together()
	}
	f.unexplained(o.Documents, noTopic)
	if doubt != "" {
		f.add(Finding{Place: "#quality"}, "%s", doubt)
	}
	return f.out
}

// finder collects findings.
type finder struct {
	m       *jsmf.Model
	e       *effects.Effects  // nil: none
	u       *jsmf.Uncertainty // nil: not known
	names   []string
	shares  []jsmf.Interval
	say     *strings.Replacer
	good    string // what topics are that can be relied on: "sound and stable", or "" where nothing is known
	topics  []int  // these, by decreasing share
	matched []int  // those whose effects can be relied on, too
	out     []Finding
}

func (f *finder) add(x Finding, format string, args ...any) {
	x.Text = fmt.Sprintf(f.say.Replace(format), args...)
	f.out = append(f.out, x)
}

// quoted is the name of a topic in a sentence.
func (f *finder) quoted(k int) string { return "“" + f.names[k] + "”" }

// called is what the topics are called that can be relied on.
func (f *finder) called() string { return strings.TrimSpace(f.good + " topics") }

// rely fills in good and topics, and says what cannot be relied on.
func (f *finder) rely(verdicts []metrics.Verdict) (doubt string) {
	background := f.m.Background()
	bad, unsound, unstable, withheld := map[metrics.Quality]int{}, 0, 0, 0
	stable := f.u != nil && f.u.Cold > 0
	for _, k := range vec.Order(f.m.K(), func(k int) float64 { return f.shares[k].Value }) {
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
		if f.shares[k].Withheld() {
			withheld++
		}
	}
	var good, reasons, why, say []string
	for q := metrics.Sound; q <= metrics.Boilerplate; q++ {
		if bad[q] > 0 {
			reasons = append(reasons, fmt.Sprintf("%d %v", bad[q], q))
		}
	}
	if verdicts != nil {
		good = append(good, "sound")
	}
	if f.u.Judges() {
		good = append(good, "stable")
	}
	f.good = console.And(good)
	if unsound > 0 {
		be := "are"
		if unsound == 1 {
			be = "is"
		}
		why = append(why, fmt.Sprintf("%d %s not sound (%s)", unsound, be, strings.Join(reasons, ", ")))
	}
	if unstable > 0 {
		why = append(why, fmt.Sprintf("%d came back in fewer than three of four new fits", unstable))
	}
	if why != nil {
		say = append(say, fmt.Sprintf("Read with care: of %d topics %s.", f.m.K(), strings.Join(why, ", and ")))
	} else if f.good != "" {
		say = append(say, fmt.Sprintf("All %d topics are %s.", f.m.K(), f.good))
	}
	if stable && !f.u.Judges() {
		say = append(say, fmt.Sprintf("Too few new fits to call topics stable: %d.", f.u.Cold))
	}
	if f.u == nil {
		say = append(say, "Shares and correlations have no intervals: the fit was not repeated.")
	} else if withheld > 0 {
		say = append(say, fmt.Sprintf("Too little is known for an interval of %d of %d shares.", withheld, f.m.K()))
	}
	return strings.Join(say, " ")
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
	x, c := Finding{Place: "#topics"}, Curve{}
	var parts []string
	for i, k := range f.topics[:min(len(f.topics), drawn)] {
		x.Labels, c.Values = append(x.Labels, f.names[k]), append(c.Values, f.shares[k])
		if text := percents(f.shares[k]); i < told {
			if f.u == nil || f.shares[k].Withheld() { // which the last sentence says
				text = percent(f.shares[k].Value)
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
	f.add(x, in+" largest of %d %s are %s of {a document} on average.", len(f.topics), f.called(), console.And(parts))
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

// ranked counts what is certain, and holds the largest.
type ranked struct {
	n, topic, point int
	v               float64
	term            *effects.TermEffects
}

func (r *ranked) add(v float64, t *effects.TermEffects, point, topic int) {
	if v > 0 {
		r.n++
	}
	if v > r.v {
		r.v, r.term, r.point, r.topic = v, t, point, topic
	}
}

// effect returns what is certain of a number of a raw term, of n numbers: 0 where it is of the other sign
// when the term is adjusted.
func (f *finder) effect(raw *effects.TermEffects, n int, number func(*effects.TermEffects) jsmf.Interval) float64 {
	for _, t := range f.e.Terms {
		if t.Name == raw.Name && t.AdjustedFor != nil && len(t.Points) == len(raw.Points) && number(&t).Value*number(raw).Value < 0 {
			return 0
		}
	}
	return surely(number(raw), f.e.Level, f.e.Replicates, n)
}

// drawn adds to a finding the shares of a topic at the points of a term.
func (f *finder) drawn(x *Finding, t *effects.TermEffects, k int) {
	c := Curve{Name: f.names[k]}
	x.Labels = nil
	for i, p := range t.Points {
		x.Labels, c.Values = append(x.Labels, p.Label), append(c.Values, t.Predictions[i][k])
	}
	x.Curves = append(x.Curves, c)
}

// trends tells what rose and fell over time.
func (f *finder) trends() {
	at := slices.IndexFunc(f.e.Terms, func(t effects.TermEffects) bool { return t.Kind == effects.Times && t.AdjustedFor == nil })
	if at < 0 || len(f.matched) == 0 {
		return
	}
	x, t := Finding{Place: "#time"}, &f.e.Terms[at]
	first, last := t.Ends()
	if first == last {
		f.add(x, "There are too few {documents} in the bins of %s to tell what rose and fell.", t.Name)
		return
	}
	var rose, fell ranked
	for _, k := range f.matched {
		v := f.effect(t, len(f.matched), func(t *effects.TermEffects) jsmf.Interval { return t.Change(k) })
		rose.add(v, t, last, k)
		fell.add(-v, t, last, k)
	}
	between := fmt.Sprintf("Between %s and %s", t.Points[first].Label, t.Points[last].Label)
	var parts []string
	tell := func(r ranked, did string) {
		if r.n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s from %s to %s", f.quoted(r.topic), did, percents(t.Predictions[first][r.topic]), percents(t.Predictions[last][r.topic])))
			f.drawn(&x, t, r.topic)
		}
	}
	tell(rose, "rose")
	tell(fell, "fell")
	if parts == nil {
		f.add(x, "%s no rise or fall of a topic is certain.", between)
		return
	}
	f.add(x, "%s %s. Of %d %s %d rose for certain and %d fell.", between, console.And(parts), len(f.matched), f.called(), rose.n, fell.n)
}

// classes tells the largest difference by class.
func (f *finder) classes() {
	var names []string
	n := 0
	// each calls f for each level of each column that has enough documents.
	each := func(do func(t *effects.TermEffects, point int)) {
		for i := range f.e.Terms {
			t := &f.e.Terms[i]
			for p := range t.Points {
				if t.Kind == effects.Categories && t.AdjustedFor == nil && !t.Points[p].Few() {
					do(t, p)
				}
			}
		}
	}
	each(func(t *effects.TermEffects, _ int) {
		if n += len(f.matched); !slices.Contains(names, t.Name) {
			names = append(names, t.Name)
		}
	})
	if n == 0 {
		return
	}
	var best ranked
	each(func(t *effects.TermEffects, p int) {
		for _, k := range f.matched {
			best.add(math.Abs(f.effect(t, n, func(t *effects.TermEffects) jsmf.Interval { return t.Differences[p][k] })), t, p, k)
		}
	})
	x, k, t := Finding{Place: "#effects"}, best.topic, best.term
	if best.n == 0 {
		f.add(x, "No difference of a topic by %s is certain.", console.And(names))
		return
	}
	f.drawn(&x, t, k)
	d, more := t.Differences[best.point][k], "more"
	if d.Value < 0 {
		d, more = jsmf.Interval{Value: -d.Value, Low: -d.High, High: -d.Low}, "less"
	}
	f.add(x, "Where %s is %s, %s has %s of {a document}, %s %s than on average. By %s %d of %d differences are certain.", t.Name, t.Points[best.point].Label, f.quoted(k),
		percents(t.Predictions[best.point][k]), d.Text(func(v float64) string { return console.Number("%.1f", 100*v) }, " points"), more, console.And(names), best.n, n)
}

// together tells the two topics that are most certain to share documents.
func (f *finder) together() {
	const drawn = 3
	var pairs []jsmf.PairUncertainty
	documents := f.m.Stats().Corpus.Documents
	if f.u != nil {
		pairs = slices.Clone(f.u.Pairs)
	} else if nan := math.NaN(); documents > 0 {
		for _, p := range f.m.CorrelatedPairs(-1) {
			pairs = append(pairs, jsmf.PairUncertainty{K: p.K, L: p.L, Correlation: jsmf.Interval{Value: p.Correlation, Low: nan, High: nan}})
		}
	}
	rely := make([]bool, f.m.K())
	for _, k := range f.topics {
		rely[k] = true
	}
	pairs = slices.DeleteFunc(pairs, func(p jsmf.PairUncertainty) bool { return !rely[p.K] || !rely[p.L] })
	if len(pairs) == 0 {
		return
	}
	chance := distuv.UnitNormal.Quantile(1-0.025/float64(len(pairs))) / math.Sqrt(float64(documents))
	sure := make([]float64, len(pairs)) // 0: not
	n := 0
	for i, p := range pairs {
		if f.u != nil {
			sure[i] = max(0, surely(p.Correlation, f.u.Level, max(f.u.Warm, f.u.Cold), len(pairs)))
		} else if p.Correlation.Value > chance {
			sure[i] = p.Correlation.Value
		}
		if sure[i] > 0 {
			n++
		}
	}
	x, c := Finding{Place: "#correlations"}, Curve{}
	if n == 0 {
		if len(pairs) == 1 {
			f.add(x, "The two %s do not go together for certain.", f.called())
		} else {
			f.add(x, "Of %d pairs of %s none goes together for certain.", len(pairs), f.called())
		}
		return
	}
	top := vec.Top(len(pairs), min(n, drawn), func(i int) float64 { return sure[i] })
	for _, i := range top {
		x.Labels, c.Values = append(x.Labels, f.names[pairs[i].K]+" – "+f.names[pairs[i].L]), append(c.Values, pairs[i].Correlation)
	}
	x.Curves = []Curve{c}
	p := pairs[top[0]]
	write := func(v float64) string { return console.Number("%+.2f", v) }
	text, verb, so := p.Correlation.Text(write, ""), "go", "for certain"
	if f.u == nil {
		text, so = write(p.Correlation.Value), "more than by chance"
	}
	if n == 1 {
		verb = "goes"
	}
	others := ""
	if len(pairs) > 1 {
		others = fmt.Sprintf(" Of %d pairs of %s %d %s together %s.", len(pairs), f.called(), n, verb, so)
	}
	f.add(x, "%s and %s go together: the correlation of their shares is %s.%s", f.quoted(p.K), f.quoted(p.L), text, others)
}
