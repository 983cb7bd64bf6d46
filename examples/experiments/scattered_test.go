package main

import "testing"

// What scatter counts as found is found: where anchors are planted in all topics by
// everybody, and where there are none by those that need none.
func TestScattered(t *testing.T) {
	l := new(lab)
	for _, x := range []struct {
		words, k, anchors int
		found             float64 // by methods with anchors
	}{{150, 4, 15, 1}, {150, 8, 0, 0}} {
		rows, err := l.scatter(t.Context(), x.words, x.k, x.anchors, 2)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) != len(scatteredMethods()) {
			t.Fatalf("%d rows", len(rows))
		}
		for _, r := range rows {
			want := 1.0
			switch r["method"] {
			case expGradSPA, pds: // their tolerance is above what is asked for
				continue
			case fastAnchor, spa, snpa, xray:
				want = x.found
			}
			if r["error"] != "" || r.num("found") != want || want == 1 && !(r.num("err_b") < scatteredLimit) {
				t.Errorf("%d topics, %s: found %s, error %s of B; want %v (%s)", x.k, r["method"], r["found"], r["err_b"], want, r["error"])
			}
		}
	}
}

func TestMedian(t *testing.T) {
	for _, x := range []struct {
		of   []float64
		want float64
	}{{[]float64{3, 1, 2}, 2}, {[]float64{4, 1, 2, 3}, 2.5}, {[]float64{7}, 7}} {
		if got := median(x.of); got != x.want {
			t.Errorf("the median of %v is %v; want %v", x.of, got, x.want)
		}
	}
}
