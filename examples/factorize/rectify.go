package main

import (
	"github.com/jsmf-go/spectral/rectify"
)

// rectifierNames are the values of -rectify, in the order in which they are
// listed.
var rectifierNames = []string{"ap", "none", "enn", "palm", "dr", "dc", "lr", "eig", "auto"}

const rectifierHelp = `ap (alternating projection), none, enn (epsilon non-negative), palm (proximal alternating),
dr (cyclic Douglas–Rachford), dc (diagonal completion), lr (enn from the documents in
a few passes), eig (the K largest eigenpairs and nothing else), auto (ap while its memory is
small, lr beyond)`

// rectifierFlags are the settings of the methods; 0 is a method's own default.
type rectifierFlags struct {
	iterations, passes, rows int
}

// rectifier returns the method of the name, nil if there is none.
func (f rectifierFlags) rectifier(name string) rectify.Rectifier {
	ap := rectify.AP{Iterations: f.iterations}
	enn := rectify.ENN{Iterations: f.iterations, Rows: f.rows}
	lr := rectify.LR{Passes: f.passes, ENN: enn}
	switch name {
	case "ap":
		return ap
	case "none":
		return rectify.None{}
	case "enn":
		return enn
	case "lr":
		return lr
	case "palm":
		return rectify.PALM{Iterations: f.iterations}
	case "dr":
		return rectify.DR{Iterations: f.iterations}
	case "dc":
		return rectify.DC{Halvings: f.iterations}
	case "eig":
		return rectify.TruncatedEig{}
	case "auto":
		return rectify.Auto{AP: ap, LR: lr}
	}
	return nil
}

// iterationsHelp lists the methods' own numbers of iterations.
const iterationsHelp = "15 for ap and dr,\nat most 50 for enn and lr, 100 for palm, 30 for dc; none and eig have none"
