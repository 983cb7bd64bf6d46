package nanjson

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"
)

type leaf struct {
	X    float64   `json:"x"`
	When time.Time `json:"when,omitempty"`
}

type tree struct {
	Leaves []leaf      `json:"leaves"`
	Rows   [][]float64 `json:"rows"`
	Skip   int         `json:"-"`
}

func (t *tree) MarshalJSON() ([]byte, error) { return Marshal(*t) }
func (t *tree) UnmarshalJSON(b []byte) error { return Unmarshal(b, t) }

// What encoding/json would write, but with NaN and infinities, comes back bit for bit, and a
// type that is a json.Marshaler by means of this package does not call itself for ever.
func TestRoundTrip(t *testing.T) {
	x := &tree{
		Leaves: []leaf{{X: math.Inf(-1)}, {X: 0.1, When: time.Date(2024, 2, 29, 12, 0, 0, 5, time.UTC)}},
		Rows:   [][]float64{nil, {math.Inf(1), 1e-300}, {}},
		Skip:   7,
	}
	b, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"leaves":[{"x":"-Inf"},{"x":0.1,"when":"2024-02-29T12:00:00.000000005Z"}],"rows":[null,["+Inf",1e-300],[]]}`; string(b) != want {
		t.Errorf("wrote %s\nwant  %s", b, want)
	}
	var y tree
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatal(err)
	}
	if x.Skip = 0; !reflect.DeepEqual(*x, y) {
		t.Errorf("read %+v, want %+v", y, *x)
	}
	var nan leaf
	if err := Unmarshal([]byte(`{"x":"NaN","other":1}`), &nan); err != nil || !math.IsNaN(nan.X) {
		t.Errorf("read %v, %v", nan, err)
	}
}

func TestErrorsSayWhere(t *testing.T) {
	var y tree
	err := Unmarshal([]byte(`{"leaves":[{"x":1},{"x":"one"}]}`), &y)
	if err == nil || err.Error()[:14] != "leaves: [1]: x" {
		t.Errorf("error %v", err)
	}
}
