package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"golang.org/x/text/encoding/charmap"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
)

// review is a document of the sources that the test makes.
type review struct {
	ID     string    `json:"id" parquet:"id"`
	When   time.Time `json:"when" parquet:"when,timestamp(millisecond)"`
	Shop   string    `json:"shop" parquet:"shop"`
	Review string    `json:"review" parquet:"review"`
}

// The same documents come out of a source of any kind, whose kind and columns are found by looking.
func TestSources(t *testing.T) {
	dir := t.TempDir()
	var all []review
	var csv, semi, tsv, lines, paragraphs strings.Builder
	csv.WriteString("id,when,shop,review\n")
	semi.WriteString("id;when;shop;review\n")
	tsv.WriteString("id\twhen\tshop\treview\n")
	write := func(name string, b []byte) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 6 {
		r := review{fmt.Sprint("r", i), time.Date(2020+i, 2, 3, 0, 0, 0, 0, time.UTC), []string{"north", "süd"}[i%2], fmt.Sprintf("Schöne apples and pears number%c", 'a'+i)}
		all = append(all, r)
		day := r.When.Format(time.DateOnly)
		fmt.Fprintf(&csv, "%s,%s,%s,\"%s\"\n", r.ID, day, r.Shop, r.Review)
		fmt.Fprintf(&semi, "%s;%s;%s;%s\n", r.ID, day, r.Shop, r.Review)
		fmt.Fprintf(&tsv, "%s\t%s\t%s\t%s\n", r.ID, day, r.Shop, r.Review)
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&lines, "%s\n", b)
		fmt.Fprintf(&paragraphs, "%s\n\n", strings.Replace(r.Review, " and ", "\nand ", 1))
		write(fmt.Sprintf("folder/%s/%s.txt", r.Shop, r.ID), []byte(r.Review))
	}
	latin, err := charmap.Windows1252.NewEncoder().String(semi.String())
	if err != nil {
		t.Fatal(err)
	}
	var zipped, zst, pq bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write([]byte(csv.String())); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	s, err := zstd.NewWriter(&zst)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write([]byte(lines.String())); err != nil || s.Close() != nil {
		t.Fatal(err)
	}
	if err := parquet.Write(&pq, all); err != nil {
		t.Fatal(err)
	}
	write("a.csv", []byte(csv.String()))
	write("semi.csv", []byte("\ufeff"+semi.String()))
	write("latin.csv", []byte(latin))
	write("a.tsv", []byte(tsv.String()))
	write("a.csv.gz", zipped.Bytes())
	write("b.jsonl", []byte(lines.String()))
	write("b.jsonl.zst", zst.Bytes())
	write("c.parquet", pq.Bytes())
	write("table", []byte(tsv.String())) // without a name that says it
	write("novel.txt", []byte(strings.ReplaceAll(paragraphs.String(), "\n", "\r\n")))
	for _, c := range []struct {
		path  string
		o     options
		stdin string
		table bool // it has ids, times and classes
	}{
		{"a.csv", options{}, "", true},
		{"semi.csv", options{}, "", true},
		{"latin.csv", options{encoding: charmap.Windows1252}, "", true},
		{"a.tsv", options{}, "", true},
		{"a.csv.gz", options{}, "", true},
		{"b.jsonl", options{}, "", true},
		{"b.jsonl.zst", options{}, "", true},
		{"c.parquet", options{}, "", true},
		{"table", options{}, "", true},
		{"-", options{}, lines.String(), true},
		{"-", options{}, csv.String(), true},
		{"-", options{}, zipped.String(), true},
		{"novel.txt", options{}, "", false},
		{"-", options{}, paragraphs.String(), false},
		{"folder", options{}, "", false},
	} {
		o := c.o
		if o.source = c.path; c.path != "-" {
			o.source = filepath.Join(dir, c.path)
		}
		if c.table {
			o.class = "shop"
		}
		tab, done, err := open(t.Context(), &o, strings.NewReader(c.stdin))
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			done()
			continue
		}
		d, err := tab.survey(t.Context())
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			done()
			continue
		}
		i := 0
		for x, err := range tab.source(d, text.Default()).Docs(context.Background()) {
			if err != nil {
				t.Errorf("%s: %v", c.path, err)
				break
			}
			want := all[i]
			words := []string{"schöne", "apples", "and", "pears", "number" + string(rune('a'+i))}
			if c.path == "folder" { // by the names of the files
				j := []int{0, 2, 4, 1, 3, 5}[i]
				want, words[4] = all[j], "number"+string(rune('a'+j))
				if got, _ := x.Values[0].Category(); tab.show(x.ID) != want.Review || got == "" {
					t.Errorf("folder: %s of %q shows %q", x.ID, got, tab.show(x.ID))
				}
			}
			if !slices.Equal(x.Tokens, words) {
				t.Errorf("%s: document %d is %q, want %q", c.path, i, x.Tokens, words)
			}
			if c.table {
				when, _ := x.Values[0].Time()
				if x.ID != want.ID || !when.Equal(want.When) || x.Values[1] != corpus.CategoryOf(other) && x.Values[1] != corpus.CategoryOf(want.Shop) {
					t.Errorf("%s: document %d is %q of %v, %v", c.path, i, x.ID, when, x.Values[1])
				}
				if d.texts[i] != want.Review {
					t.Errorf("%s: document %d shows %q", c.path, i, d.texts[i])
				}
			}
			i++
		}
		if i != len(all) {
			t.Errorf("%s: %d documents, want %d", c.path, i, len(all))
		}
		done()
	}
}
