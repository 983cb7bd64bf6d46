package infer

// SlowMAPEnd gives the tests of real documents the definition of MAP.
var SlowMAPEnd = slowMAPEnd
