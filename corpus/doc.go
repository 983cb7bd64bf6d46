// Package corpus reads documents into word counts: it reads the usual formats, splits text into
// words, chooses the vocabulary, and holds how often each of N words occurs in each of M
// documents, as a [Corpus].
//
// # Reading
//
// Choose the reader by what you have:
//
//	you have                        reader   a document is
//	------------------------------  -------  ------------------------------
//	counts "document word count"    UCI      a number from 1 to D
//	JSON Lines                      JSONL    a line: text or list of tokens
//	text, one document a line       Lines    a line
//	text files in a folder          Dir      a file
//	a CSV or TSV table with text    CSV      a record
//	who chose what, with ratings    Triples  a user; the items are the words
//	tokens, counts or text          Builder  what Add is given
//	a sparse matrix                 FromCSR  a row
//	your own function, a database   FromSeq  what it yields
//
// A reader is a struct whose zero fields are good defaults, and a [Source]: it streams its
// documents, any number of times. [Read] collects them:
//
//	c, err := corpus.Read(ctx, corpus.JSONL{In: corpus.File{Name: "news.jsonl.gz"}, Text: "body"})
//
// A reader of your own has the two methods of Source: Describe says what is known of the
// documents, the zero [Description] if nothing is, and Docs yields them.
//
// A [File] is read from a path, a file system, memory or a reader, gzipped or not. Errors in a
// file wrap a [*FileError] with its name and line.
// Counts of a word that a document holds several times are added up, and documents without
// words are kept. Nothing else is repaired.
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
// Values stay with their documents through Select, Split, [Curate], [Encode] and files. A
// value that does not fit its column is an error that names the file, the line, the column
// and the value. An id may not come twice.
//
// # Words
//
// Package text splits text into words, as a [text.Setting] says; readers take its Tokenizer.
// Corpora, encoded files and models keep the setting (Info.Text), so that later texts are split
// as those of the fit. [Curate] removes stop words. If the setting names a Stemmer, the words of
// one stem become one, shown as its most frequent form; [Stem] does so for documents that are
// not read from text.
//
// # Vocabulary
//
// [Curate] removes words that are everywhere or almost nowhere, by the papers' rules, and
// reports what each step removed. For text, start with
//
//	c, report, err := corpus.Curate(c, corpus.Curation{StopWords: stopwords.English(), Words: 5000})
//
// where 5000 is the number of words to keep; for preferences, with
// Curation{Score: corpus.TF, Words: 5000}; and for counts that are fine as they
// are with Curation{KeepVocabulary: true}, which removes small documents only.
//
// # Phrases, boilerplate, duplicates
//
// [LearnPhrases] finds phrases (machine_learning) and lines of boilerplate in texts, and returns
// a tokenizer that joins these phrases and leaves out these lines. [Inspect] finds duplicates,
// several languages and what else a reader of the topics should know; a fit calls it and passes
// its warnings on.
//
// # Larger than memory
//
// A fit reads the documents many times. [EncodeFile] parses their text once and writes them to
// a compact, checksummed file, which any number of goroutines can read; [Encode] holds the same
// in memory. An [Encoded] is a Source, and an input of jsmf.New and jsmf.Published.
//
// # Using a corpus
//
// A Corpus is immutable and safe for concurrent use. Split and SplitTokens divide it for
// evaluation, Reindex maps new documents to the vocabulary of a model, Select picks documents
// and words, Counts returns the sparse matrix, and SaveUCI writes files.
package corpus
