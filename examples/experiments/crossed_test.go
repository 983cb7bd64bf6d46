package main

import (
	"path/filepath"
	"testing"
)

// With its own anchors and rows a method has the Recovery that the curves have, and no rows
// recover the original ones better than these do.
func TestCrossed(t *testing.T) {
	out := t.TempDir()
	mustRun(t, small(out, "-run", "curves,crossed")...)
	rows, curves := readTable(t, filepath.Join(out, "crossed.csv")), readTable(t, filepath.Join(out, "curves.csv"))
	if len(rows) != 8 {
		t.Fatalf("%d rows; want 8", len(rows))
	}
	for _, r := range rows {
		if r["anchors"] == r["rows"] {
			want := where(curves, "method", r["anchors"], "recover", "ActiveSet", "k", r["k"])
			if len(want) != 1 || want[0]["recovery"] != r["recovery"] {
				t.Errorf("K = %s: Recovery of %s is %s; the curves have %v", r["k"], r["anchors"], r["recovery"], want)
			}
		}
		if r["rows"] == "AP" {
			other := where(rows, "k", r["k"], "anchors", r["anchors"], "rows", baseline)
			if len(other) != 1 || !(other[0].num("recovery") < r.num("recovery")) {
				t.Errorf("K = %s, anchors of %s: Recovery %s from rectified rows; %v from the original ones", r["k"], r["anchors"], r["recovery"], other)
			}
		}
	}
}
