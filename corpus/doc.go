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
//	a database                      SQL                    a row of a query
//	who chose what, with ratings    Triples  ReadTriples   a user; the items are the words
//	tokens, counts or text          Builder                what Add is given
//	a sparse matrix                          FromCSR       a row
//	your own function                        FromSeq       what it yields
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
// # Metadata
//
// Documents have an id, a label, and values in columns: numbers, times and categories, of
// which some may be missing. The kind of a column is given, never guessed:
//
//	c, err := corpus.Read(ctx, corpus.CSV{
//		In: corpus.File{Name: "reviews.csv"}, Text: "review", ID: "id",
//		Fields: []corpus.Field{
//			{Column: corpus.Column{Name: "stars", Kind: corpus.Number}},
//			{Column: corpus.Column{Name: "date", Kind: corpus.Time}, Layout: "2.1.2006"},
//			{Column: corpus.Column{Name: "shop", Kind: corpus.Category}, Missing: []string{"NA"}},
//		},
//	})
//	stars, known, err := c.Metadata().Numbers("stars")
//
// Values stay with their documents through Select, Split, Curate, Encode and files. A
// value that does not fit its column is an error that names the file, the line, the column
// and the value. An id may not come twice.
//
// # Words
//
// Package text splits text into words, in any script: without markup, by Unicode word
// boundaries, in lower case, without numbers and single letters. A text.Setting says how, and
// readers take the Tokenizer of another. Corpora, encoded files and models keep the setting
// (Info.Text), so that later texts are split as those of the fit. Stop words are left to
// Curate. If the text.Setting names a Stemmer, the words of one stem are merged into one,
// which is shown as its most frequent form; Stem does so for documents that are not read
// from text.
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
// # Phrases, boilerplate, duplicates
//
// Learn finds phrases (machine_learning) and lines of boilerplate in texts, and returns a
// tokenizer that joins these phrases and leaves out these lines:
//
//	read := func(t text.Tokenizer) corpus.Source { return corpus.Dir{Path: "texts", Tokenizer: t} }
//	t, err := corpus.Learn(ctx, nil, read, text.Learning{})
//	…
//	c, err := corpus.Read(ctx, read(t))
//
// Inspect says what a collection holds that a reader of its topics should know: words that
// are rare or everywhere, duplicates, several languages. A fit does so by itself and passes
// its warnings on.
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
