// Package corpus reads documents into word counts. It reads the usual formats,
// splits text into words, chooses the vocabulary, and holds the result as a
// Corpus: how often each of N words occurs in each of M documents.
//
// # Reading
//
// Choose the reader by what you have:
//
//	you have                        reader   function      a document is
//	------------------------------  -------  ------------  ------------------------------
//	counts "document word count"    UCI      ReadUCI       a number from 1 to D
//	counts "n word:count …"         LDAC     ReadLDAC      a line
//	JSON Lines                      JSONL    ReadJSONL     a line: text or list of tokens
//	text, one document a line       Lines                  a line
//	text files in a folder          Dir      ReadDir       a file
//	a CSV or TSV table with text    CSV      ReadCSV       a record
//	who chose what, with ratings    Triples  ReadTriples   a user; the items are the words
//	tokens, counts or text          Builder                what Add is given
//	a sparse matrix                          FromCSR       a row
//
// The functions take a path and use default settings. For other settings pass the
// reader, a struct whose zero fields are good defaults, to Read:
//
//	c, err := corpus.Read(ctx, corpus.JSONL{In: corpus.File{Name: "news.jsonl.gz"}, Text: "body"})
//
// A reader is a Source: it streams its documents, any number of times, and Read
// collects them. A File is read from a path, a file system, memory or a reader,
// gzipped or not. Errors in a file wrap a *FileError with its name and line.
// Counts of a word that a document holds several times are added up, and documents
// without words are kept; nothing else is repaired.
//
// # Words
//
// Package text splits text into words: by Unicode word boundaries, in lower case,
// without numbers and single letters. Readers take any other text.Tokenizer. Stop
// words are left to Curate.
//
// # Vocabulary
//
// Co-occurrence needs a vocabulary without words that are everywhere or almost
// nowhere. Curate chooses one by the papers' rules and reports what each step
// removed. For text, start with
//
//	c, report, err := corpus.Curate(c, corpus.Curation{StopWords: text.EnglishStopWords(), Words: 5000})
//
// where 5000 is the number of words to keep; for preferences, with
// Curation{Score: corpus.TF, Words: 5000}; and for counts that are fine as they
// are with Curation{KeepVocabulary: true}, which removes small documents only.
//
// # Larger than memory
//
// A reader that is passed to cooc.NewStream reads its file again for each product. Encode
// the documents first, so that their text is parsed once: EncodeFile writes them to a
// compact, checksummed file, which any number of goroutines can read, and Encode holds
// the same in memory. An Encoded is a Source like any other.
//
// # Using a corpus
//
// A Corpus is immutable and safe for concurrent use. Split and SplitTokens divide
// it for evaluation, Reindex maps new documents to the vocabulary of a model,
// Select picks documents and words, Counts returns the sparse matrix, and SaveUCI
// writes files.
package corpus
