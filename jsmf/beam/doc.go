// Package beam fits models of package jsmf to documents that do not fit on one machine, by
// Apache Beam, and finds the topics of any number of documents by a model.
//
// [Fit] makes a model of files of documents, the shards. [Encode] is its first half: it reads the
// shards once, and the [Documents] that it returns are a jsmf.Input. [Transform] writes the topic
// proportions of documents, a file for each shard. A program that uses any of them calls [Init]
// first, since workers run the same program. README.md in this folder shows how to run it,
// cmd/jsmf-beam is a program with all of this, and [Runner] says where the work is done.
//
// Every step is a job, a Beam pipeline whose results are kept in a state folder
// ([Options].State). The program that launches the jobs decides what comes next, and a later
// run of the same program finds what is done.
//
// Numbers of documents are rounded to integers before they are added up. So sums, and the model,
// are the same to the bit for any shards, workers and failures, on one type of CPU.
//
// # State folder
//
// What a job computes is written to a folder, a local one or one of an object store (gs://,
// s3://) that all workers reach, and a manifest there says what is done, under a hash of what
// it was computed from. A fit that has ended for any reason continues when it is run again
// with the same folder: it finds all results except those that the launching machine recomputes
// in moments. A file that is missing or damaged is found by its length and checksum. If
// it is a result it is computed again, and if it is a piece of the documents the error names
// it: remove the file, and the documents are encoded again. The sums of all passes are kept, so
// that a run can be repeated until its model is saved; then the folder may be deleted.
//
// Two programs in one folder do no harm, but one of them ends with an error.
//
// # Memory
//
// A worker process holds, at most and apart from what Beam itself takes:
//
//   - a sum of 8 bytes a number, and a piece of the documents as it is stored, for each of its
//     cores (GOMAXPROCS), however many bundles its runner sends it at once;
//   - one plan, which is what a pass sends to its workers: N·K·4 bytes, twice while it is read;
//   - of each stripe that is added up, the parts from all shares, of some 2 MiB each at most.
//
// A sum has N·K numbers in a pass over the documents and n·(n+1)/2 for the second moments of
// the n best words. Where topics are split, a sum has 2·N numbers for each of those that there are,
// and then, for some at a time, the second moments of 400 words, in 128 MB; each is held once. A worker process on two cores took 0.4 to 0.9 GB in the passes of
// a fit with N = 73,089 and 128 topics, where a sum is 75 MB. Prism holds what is shuffled,
// Runner.Shares sums, and sends it in one message of less than 2 GiB.
package beam
