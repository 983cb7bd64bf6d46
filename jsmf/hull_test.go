package jsmf_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/rectify"
)

// A finder that chooses the number of topics gets its way, also where there
// are more than the matrix was rectified for.
func TestHull(t *testing.T) {
	testutil.NotWithRace(t)
	c := some(t, 1000, 600)
	for _, r := range []rectify.Rectifier{rectify.AP{}, rectify.ENN{}, rectify.None{}} {
		p := jsmf.Published(8).Rectify(r)
		m, err := p.Anchors(anchor.Hull{All: true, MinDocs: 10}).Fit(ctx, c)
		if err != nil {
			t.Fatalf("%v: %v", r, err)
		}
		st := m.Stats()
		if m.K() <= 8 || st.Anchors.K != m.K() || st.Anchors.Requested != 8 || st.Anchors.Norms != nil {
			t.Errorf("%v: %d topics, stats %+v", r, m.K(), st.Anchors)
		}
		if !strings.Contains(strings.Join(st.Warnings, "\n"), "the matrix was rectified for 8") {
			t.Errorf("%v: warnings %q", r, st.Warnings)
		}
		m8, err := p.Anchors(anchor.Hull{MinDocs: 10}).Fit(ctx, c)
		if err != nil {
			t.Fatalf("%v: %v", r, err)
		}
		for k, w := range m8.Anchors() {
			if w != m.Anchors()[k] || m8.K() != 8 {
				t.Errorf("%v: anchors %v, of %v", r, m8.Anchors(), m.Anchors())
			}
		}
		_, err = p.Anchors(anchor.Hull{Dims: 1}).Fit(ctx, c)
		var ve *anchor.VerticesError
		if !errors.As(err, &ve) || ve.Vertices != 2 || ve.K != 8 {
			t.Errorf("%v: 8 anchors on a line: %v", r, err)
		}
	}
	if err := jsmf.Published(8).Anchors(anchor.Hull{Dims: -1}).Validate(nil); err == nil || !strings.Contains(err.Error(), "-1 dimensions") {
		t.Errorf("Validate: %v", err)
	}
}
