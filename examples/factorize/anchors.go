package main

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/anchor/tsne"
	"github.com/jsmf-go/spectral/examples/internal/cli"
)

// finderNames are the values of -anchors, in the order in which they are
// listed.
var finderNames = []string{"qr", "projected", "spa", "snpa", "xray", "pca", "tsne", "fixed", "tandem"}

const finderHelp = `qr (pivoted QR), projected (the same in a random projection, with a
clean-up), spa, snpa, xray (successive projection, non-negative projection, conical hull), pca, tsne (the vertices of the convex hull of the words
embedded in few dimensions, the farthest first), fixed (those in -anchor-words), tandem (each line of
-anchor-words as one anchor)`

// finderFlags are the settings of the anchor finders; 0 is a finder's own
// default.
type finderFlags struct {
	name         string
	minDF        int
	dims         int
	sparse       bool
	cleanUp      bool
	unnormalised bool
	embedDims    int
	perplexity   float64
	allVertices  bool
	words        string // file
	complete     string // by what fixed and tandem are completed
	facets       [][]string
}

// finderUses holds the methods that a flag can be given with. The method that completes
// others counts too.
var finderUses = map[string][]string{
	"project-dims":   {"projected"},
	"project-sparse": {"projected"},
	"clean-up":       {"qr"},
	"unnormalised":   {"spa", "xray", "pca", "tsne"},
	"embed-dims":     {"pca", "tsne"},
	"perplexity":     {"tsne"},
	"all-vertices":   {"pca", "tsne"},
	"anchor-words":   {"fixed", "tandem"},
	"complete":       {"fixed", "tandem"},
}

func (f finderFlags) given() bool { return f.name == "fixed" || f.name == "tandem" }

// wrong returns what is wrong with the flags that were given.
func (f finderFlags) wrong(given map[string]bool) cli.Wrong {
	var wrong cli.Wrong
	bad := wrong.If
	bad(f.minDF < 0, "-anchor-min-df %d: want 0 or more", f.minDF)
	bad(given["project-dims"] && f.dims < 1, "-project-dims %d: want at least 1", f.dims)
	bad(given["embed-dims"] && f.embedDims < 1, "-embed-dims %d: want at least 1", f.embedDims)
	bad(f.name == "tsne" && given["embed-dims"] && f.embedDims != 2 && f.embedDims != 3, "-embed-dims %d: want 2 or 3 for tsne", f.embedDims)
	bad(given["perplexity"] && !(f.perplexity >= 1), "-perplexity %g: want at least 1", f.perplexity)
	if !slices.Contains(finderNames, f.name) {
		bad(true, "-anchors %q: want %s", f.name, strings.Join(finderNames, ", "))
		return wrong
	}
	bad(f.given() && f.words == "", "-anchors %s: -anchor-words is missing", f.name)
	bad(f.given() && !slices.Contains(completers, f.complete), "-complete %q: want %s", f.complete, strings.Join(completers, ", "))
	for _, x := range []string{"project-dims", "project-sparse", "clean-up", "unnormalised", "embed-dims", "perplexity", "all-vertices", "anchor-words", "complete"} {
		uses := finderUses[x]
		ok := slices.Contains(uses, f.name) || f.given() && slices.Contains(uses, f.complete)
		bad(given[x] && !ok, "-%s has no use with -anchors %s", x, f.name)
	}
	bad(given["anchor-min-df"] && f.given() && f.complete == "none", "-anchor-min-df has no use with -anchors %s -complete none", f.name)
	return wrong
}

// completers are the values of -complete.
var completers = []string{"qr", "projected", "spa", "snpa", "xray", "none"}

// read reads the file of anchor words: for each topic a line, its words
// separated by white space; empty lines are skipped.
func (f *finderFlags) read() error {
	if !f.given() {
		return nil
	}
	file, err := os.Open(f.words)
	if err != nil {
		return err
	}
	defer file.Close()
	s := bufio.NewScanner(file)
	s.Buffer(nil, 1<<20)
	for line := 1; s.Scan(); line++ {
		words := strings.Fields(s.Text())
		switch {
		case len(words) == 0:
			continue
		case len(words) > 1 && f.name == "fixed":
			return fmt.Errorf("%s:%d: %d words; -anchors fixed wants one a line, -anchors tandem takes several as one", f.words, line, len(words))
		}
		f.facets = append(f.facets, words)
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("%s: %w", f.words, err)
	}
	if f.facets == nil {
		return fmt.Errorf("%s: no words", f.words)
	}
	return nil
}

// finder returns the finder of the name.
func (f finderFlags) finder(name string) anchor.Finder {
	switch name {
	case "qr":
		return anchor.QR{MinDocs: f.minDF, CleanUp: f.cleanUp}
	case "projected":
		return anchor.Projected{Dims: f.dims, Sparse: f.sparse, MinDocs: f.minDF}
	case "spa":
		return anchor.SPA{Unnormalised: f.unnormalised, MinDocs: f.minDF}
	case "snpa":
		return anchor.SNPA{MinDocs: f.minDF}
	case "xray":
		return anchor.XRAY{Unnormalised: f.unnormalised, MinDocs: f.minDF}
	case "pca":
		return anchor.Hull{Unnormalised: f.unnormalised, Dims: f.embedDims, All: f.allVertices, MinDocs: f.minDF}
	case "tsne":
		return anchor.Hull{Unnormalised: f.unnormalised, Dims: f.embedDims, TSNE: &tsne.Settings{Perplexity: f.perplexity}, All: f.allVertices, MinDocs: f.minDF}
	case "fixed":
		return anchor.Fixed{Words: slices.Concat(f.facets...), Complete: f.finder(f.complete)}
	case "tandem":
		return anchor.Tandem{Groups: f.facets, Complete: f.finder(f.complete)}
	}
	return nil // -complete none
}
