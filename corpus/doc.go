// Package corpus turns documents into counts: it reads them in the usual
// formats, splits text into words, chooses the vocabulary, and keeps the
// result as a Corpus, the word counts of M documents over N words.
//
// # Reading
//
// Pick the reader by what you have:
//
//	you have                        reader   function      a document is
//	------------------------------  -------  ------------  ------------------------------
//	counts "document word count"    UCI      ReadUCI       a number from 1 to D
//	counts "n word:count …"         LDAC     ReadLDAC      a line
//	JSON Lines                      JSONL    ReadJSONL     a line: text or list of tokens
//	text files in a folder          Dir      ReadDir       a file
//	a CSV or TSV table with text    CSV      ReadCSV       a record
//	who chose what, with ratings    Triples  ReadTriples   a user; the items are the words
//	tokens, counts or text in hand  Builder                what Add is given
//	a sparse matrix                          FromCSR       a row
//
// The function takes a path and the usual settings; for all others fill in the
// reader, a struct whose zero fields mean good defaults, and pass it to Read:
//
//	c, err := corpus.Read(ctx, corpus.JSONL{In: corpus.File{Name: "news.jsonl.gz"}, Text: "body"})
//
// A reader is a Source: it streams its documents, as often as asked, and Read
// collects them. Its files are Inputs, which come from a path (File), a file
// system (FSFile), memory (Bytes) or a stream (Stream), gzipped or not, with a
// stated limit for the length of a line. What is wrong in a file is an error
// that wraps a *FileError with the file and the line. Nothing is repaired in
// silence, but duplicates of a word in a document are added up and documents
// without words are kept.
//
// # Words
//
// A Tokenizer splits text: by default WordTokenizer, which goes by the Unicode
// word boundaries, lower-cases, and drops numbers and single letters. Stop
// words are left to Curate.
//
// # Vocabulary
//
// Co-occurrence needs a vocabulary of words that are neither everywhere nor
// next to nowhere. Curate makes one by the papers' rules and reports what each
// step removed. For text, start with
//
//	c, report, err := corpus.Curate(c, corpus.Curation{StopWords: text.EnglishStopWords(), Words: 5000})
//
// where 5000 is the number of words to keep; for preferences, with
// Curation{Score: corpus.TF, Words: 5000}; and for counts that are fine as they
// are with Curation{KeepVocabulary: true}, which removes small documents only.
//
// # Use of a corpus
//
// A Corpus is immutable and safe for concurrent use. Split and SplitTokens
// divide it for evaluation, Reindex brings new documents onto the vocabulary of
// a model, Select picks documents and words, Counts gives the sparse matrix,
// and SaveUCI writes it out.
package corpus
