package serve

import (
	"bytes"
	"mime"
	"net/http"
	"slices"
	"strconv"

	"github.com/jsmf-go/spectral/jsmf/effects"
)

// columnStatus says how far the study of a column is.
type columnStatus struct {
	columnAnswer
	State     string `json:"state"`               // waiting, done, or none
	Why       string `json:"why,omitempty"`       // there is none
	Documents int    `json:"documents,omitempty"` // that count
	Missing   int    `json:"missing,omitempty"`   // that have no value, or no word that the model knows
}

func statusOf(c studied) columnStatus {
	out := columnStatus{columnAnswer: columnAnswer{c.column.Name, c.column.Kind.String()}, State: "waiting", Why: c.why}
	switch {
	case c.found != nil:
		out.State, out.Documents, out.Missing = "done", c.found.Documents, c.found.Missing
	case c.why != "":
		out.State = "none"
	}
	return out
}

// effectsList answers for which columns there are effects.
func (s *Service) effectsList(w http.ResponseWriter, r *http.Request) *problem {
	m, p := s.model(w)
	if p != nil {
		return p
	}
	out := struct {
		Model   modelName      `json:"model"`
		Columns []columnStatus `json:"columns"`
	}{m.name, []columnStatus{}}
	for _, c := range m.study.all() {
		out.Columns = append(out.Columns, statusOf(c))
	}
	return sendJSON(w, http.StatusOK, out)
}

// effectRow is one number of an effect. Null: unknown.
type effectRow struct {
	Point      string   `json:"point,omitempty"` // none of a share and of a slope
	Topic      int      `json:"topic"`
	Measure    string   `json:"measure"`
	Value      *float64 `json:"value"`
	Low        *float64 `json:"low"`
	High       *float64 `json:"high"`
	Withheld   bool     `json:"withheld,omitempty"` // a value without an interval: too little is known
	Documents  int      `json:"documents"`
	Few        bool     `json:"few,omitempty"` // too few documents to tell
	Incomplete bool     `json:"incomplete,omitempty"`
}

// effectTopic is a topic that has effects.
type effectTopic struct {
	Topic     int    `json:"topic"`
	Name      string `json:"name"`
	Unmatched int    `json:"unmatched"`        // replicates without it
	Of        []int  `json:"topics,omitempty"` // the topics of a family, which has a number beyond those of the topics
}

// effectBytes is what a row of an answer takes until it is sent.
const effectBytes = 768

// columnEffects answers how topics depend on a column, as JSON or CSV.
func (s *Service) columnEffects(w http.ResponseWriter, r *http.Request) *problem {
	topic, csv, p := effectsQuery(r)
	if p != nil {
		return p
	}
	m, p := s.model(w)
	if p != nil {
		return p
	}
	name := r.PathValue("column")
	all := m.study.all()
	i := slices.IndexFunc(all, func(c studied) bool { return c.column.Name == name })
	switch {
	case i < 0:
		return fail(http.StatusNotFound, "there is no column %s", quote(name))
	case all[i].why != "":
		return fail(http.StatusConflict, "how topics depend on the column %s is not known: %s", quote(name), all[i].why)
	case all[i].found == nil:
		p := busy(http.StatusServiceUnavailable, "how topics depend on the column %s is still being measured", quote(name))
		p.retry = 10
		return p
	}
	k := -1
	if topic != "" {
		if k, p = m.number(topic); p != nil {
			return p
		}
	}
	e := all[i].found
	held, p := s.hold(r.Context(), s.client(r), effectBytes*rowsOf(e))
	if p != nil {
		return p
	}
	defer held.free()
	end, p := s.turn(r.Context(), readBytes, s.cfg.Limits.Wait)
	if p != nil {
		return p
	}
	if csv {
		var b bytes.Buffer
		err := e.WriteCSV(&b)
		end()
		if err != nil {
			return internal(err)
		}
		h := w.Header()
		h.Set("Content-Type", "text/csv; charset=utf-8")
		h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": "effects.csv"}))
		w.Write(b.Bytes())
		return nil
	}
	out := effectsAnswer(m, all[i], k)
	end()
	return sendJSON(w, http.StatusOK, out)
}

// rowsOf is the number of rows of effects.
func rowsOf(e *effects.Effects) int64 {
	n := 1
	for _, t := range e.Terms {
		n += 2*len(t.Points) + 1
	}
	return int64(n * len(e.Quantities))
}

// effectsAnswer returns the effects on topic k, or on all topics if k is negative.
func effectsAnswer(m *served, c studied, k int) any {
	e := c.found
	out := struct {
		Model modelName `json:"model"`
		columnStatus
		Unit       string        `json:"unit,omitempty"`
		Level      float64       `json:"level"`
		Replicates int           `json:"replicates"`
		Recovery   string        `json:"recovery,omitempty"`
		Notes      []string      `json:"notes,omitempty"` // to read first
		Topics     []effectTopic `json:"topics"`
		Rows       []effectRow   `json:"rows"`
	}{Model: m.name, columnStatus: statusOf(c), Unit: e.Terms[0].Unit, Level: e.Level, Replicates: e.Replicates, Recovery: e.Recovery("documents"), Notes: e.Notes(), Rows: []effectRow{}}
	for i, q := range e.Quantities {
		if k < 0 || i == k {
			x := effectTopic{Topic: i, Name: q.Name, Unmatched: e.Unmatched[i]}
			if len(q.Topics) > 1 {
				x.Of = q.Topics
			}
			out.Topics = append(out.Topics, x)
		}
	}
	for i, r := range e.Rows() { // all topics of a point and measure, one after the other
		t := i % len(e.Quantities)
		if k < 0 || t == k {
			out.Rows = append(out.Rows, effectRow{r.Point, t, r.Measure, finite(r.Value), finite(r.Low), finite(r.High), r.Withheld(), r.Documents, r.Few, r.Incomplete})
		}
	}
	return out
}

// effectsQuery reads which topic is wanted, and the form.
func effectsQuery(r *http.Request) (topic string, csv bool, p *problem) {
	values, p := queryValues(r)
	if p != nil {
		return "", false, p
	}
	for name, v := range values {
		switch {
		case len(v) != 1:
			return "", false, inField(shorten(name), "the parameter is given %d times", len(v))
		case name == "topic":
			topic = v[0]
			if _, err := strconv.Atoi(topic); err != nil {
				return "", false, inField("topic", "%s is no number", quote(topic))
			}
		case name == "format" && (v[0] == "csv" || v[0] == "json"):
			csv = v[0] == "csv"
		case name == "format":
			return "", false, inField("format", "%s: want json or csv", quote(v[0]))
		default:
			return "", false, inField(shorten(name), "there is no such parameter")
		}
	}
	if csv && topic != "" {
		return "", false, inField("topic", "CSV has all topics")
	}
	return topic, csv, nil
}
