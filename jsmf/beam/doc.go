// Package beam fits models of package jsmf to documents that do not fit on one machine, by
// Apache Beam.
//
// # Memory
//
// A worker process holds, at most and apart from what Beam itself takes:
//
//   - a sum of 8 bytes a number, and a piece of the documents as it is stored, for each of its
//     cores (GOMAXPROCS), however many bundles its runner sends it at once;
//   - one plan: what a pass sends to its workers, N·K·4 bytes at most;
//   - for each stripe that is added up, its parts from all shares, of 2 MiB each at most.
//
// A sum has N·K numbers in a pass over the documents and n·(n+1)/2 for the second moments of
// the n best words.
package beam
