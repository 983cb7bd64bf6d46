package corpus_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/corpus/text/stopwords"
)

// From text to a curated corpus.
func Example() {
	ctx := context.Background()
	in := corpus.FileFromBytes("pets.jsonl", []byte(`
{"id": "a", "text": "The cat chased the mouse; the mouse hid from the cat."}
{"id": "b", "text": "A dog chased the cat, and the cat hid."}
{"id": "c", "text": "The stock market fell, and the bank hid its losses."}
{"id": "d", "text": "The bank's stock rose with the market."}
`))
	c, err := corpus.Read(ctx, corpus.JSONL{In: in})
	if err != nil {
		fmt.Println(err)
		return
	}
	c, report, err := corpus.Curate(c, corpus.Curation{StopWords: stopwords.English(), Words: 8, MinDistinct: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(report)
	fmt.Println(strings.Join(c.Vocabulary(), " "))
	// Output:
	//                                               documents       words        tokens
	// before                                                 4          16            36
	//   stop words, of 348                                   0          −5           −15
	//   words that never occur                               0           0             0
	//   all but the best 8 by tf·ln⌊M/df⌋                    0          −3            −6
	//   documents with fewer than 2 distinct words           0           0             0
	//   words without a document left                        0           0             0
	// after                                                  4           8            15
	// cat mouse bank chased dog fell losses market
}

func ExampleReadUCI() {
	c, err := corpus.ReadUCI(context.Background(), "testdata/docword.pets.txt", "testdata/vocab.pets.txt")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.NumDocs(), "documents,", c.NumWords(), "words,", c.Tokens(), "tokens")
	words, counts := c.Doc(0)
	for i, w := range words {
		fmt.Println(c.Word(int(w)), counts[i])
	}
	// Output:
	// 3 documents, 4 words, 9 tokens
	// cat 2
	// mouse 1
}

// A line that cannot be right names its place.
func ExampleFileError() {
	docword := corpus.FileFromBytes("docword.txt", []byte("1\n4\n2\n1 2 1\n1 5 1\n"))
	_, err := corpus.Read(context.Background(), corpus.UCI{Docword: docword})
	fmt.Println(err)
	// Output: corpus: docword.txt:5: word 5 is not in [1, 4]
}

// Documents one after the other, without holding the corpus in memory.
func ExampleSource() {
	src := corpus.UCI{Docword: corpus.FileFromBytes("docword", []byte("2\n3\n3\n1 1 1\n1 3 3\n2 2 1\n"))}
	for d, err := range src.Docs(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(d.Words, d.Counts)
	}
	// Output:
	// [0 2] [1 3]
	// [1] [1]
}

// Film ratings: a user is a document, and a film occurs twice for each star.
func ExampleTriples() {
	ratings := corpus.FileFromBytes("ratings.csv", []byte("userId,movieId,rating\n7,10,4.5\n7,9,1\n3,10,0.5\n"))
	titles := map[string]string{"9": "Alien", "10": "Brazil"}
	c, err := corpus.Read(context.Background(), corpus.Triples{
		In: ratings, User: "userId", Item: "movieId", Rating: "rating",
		Count:  corpus.Stars,
		Rename: func(id string) string { return titles[id] },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for m := range c.NumDocs() {
		words, counts := c.Doc(m)
		for i, w := range words {
			fmt.Println("user", c.ID(m), c.Word(int(w)), counts[i])
		}
	}
	// Output:
	// user 3 Brazil 1
	// user 7 Alien 2
	// user 7 Brazil 9
}

// Columns of a table become metadata, whose values stay with their documents.
func ExampleMetadata() {
	reviews := corpus.FileFromBytes("reviews.csv", []byte(`id,review,stars,date
a,good strong coffee,5,24.12.2023
b,the coffee was cold,NA,2.1.2024
c,strong tea and good cake,4,
`))
	c, err := corpus.Read(context.Background(), corpus.CSV{In: reviews, Text: "review", ID: "id", Fields: []corpus.Field{
		{Column: corpus.Column{Name: "stars", Kind: corpus.Number}, Missing: []string{"NA"}},
		{Column: corpus.Column{Name: "date", Kind: corpus.Time}, Layout: "2.1.2006"},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	stars, known, err := c.Metadata().Numbers("stars")
	fmt.Println(stars, known, err)
	last, err := c.Select([]int{2, 1}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	dates, known, err := last.Metadata().Times("date")
	fmt.Println(dates[1].Format("January 2006"), known, err)
	// Output:
	// [5 NaN 4] [true false true] <nil>
	// January 2024 [false true] <nil>
}

func ExampleBuilder() {
	var b corpus.Builder
	for _, err := range []error{
		b.AddText("first", "", "Topics from text: words, words!"),
		b.AddTokens("second", "", []string{"topics", "words"}),
		b.AddCounts("third", "", map[string]int{"words": 5}),
	} {
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	c, err := b.Corpus()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Vocabulary(), c.WordCounts())
	// Output: [from text topics words] [1 1 2 8]
}

func Example_words() {
	t, err := text.Setting{MinLength: 3}.Tokenizer()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%q\n", t.Tokenize(nil, "Anna’s 2 well-known cafés can't close at 11."))
	// Output: ["anna" "well" "known" "cafés" "can't" "close"]
}

// Held-out documents, whose tokens are divided for document completion.
// Phrases and lines that many documents have are found in the texts.
func ExampleLearn() {
	topics := []string{"machine learning learns from data", "a pinch of table salt in the soup"}
	read := func(t text.Tokenizer) corpus.Source {
		var lines strings.Builder
		for i := range 40 {
			fmt.Fprintf(&lines, "{\"text\": \"Letter %d\\nAbout name%c: %s.\"}\n", i, 'a'+i%26, topics[i%2])
		}
		return corpus.JSONL{In: corpus.FileFromBytes("letters", []byte(lines.String())), Tokenizer: t}
	}
	t, err := corpus.LearnPhrases(context.Background(), nil, read, text.Learning{MaxWords: 2})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%q\n", t.Setting().Boilerplate.Lines[0].Text)
	fmt.Println(t.Tokenize(nil, "Letter 99\nOn machine learning, and table salt."))
	// Output:
	// "Letter 0"
	// [on machine_learning and table_salt]
}

func ExampleCorpus_SplitTokens() {
	var b corpus.Builder
	for range 10 {
		if err := b.AddTokens("", "", strings.Fields("a a b b c c d d")); err != nil {
			fmt.Println(err)
			return
		}
	}
	c, err := b.Corpus()
	if err != nil {
		fmt.Println(err)
		return
	}
	train, held, err := c.Split(0.2, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	observed, hidden, err := held.SplitTokens(0.5, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(train.NumDocs(), held.NumDocs(), observed.DocLen(0), hidden.DocLen(0))
	// Output: 8 2 4 4
}

// Documents of two topics that never share a word, mixed by LDA's prior.
func ExampleGenerator() {
	c, w, err := corpus.Generator{
		Topics:     mat.NewDense(4, 2, []float64{0.5, 0, 0.5, 0, 0, 0.5, 0, 0.5}),
		Prior:      corpus.SymmetricDirichlet(2, 0.5),
		Docs:       1000,
		Lengths:    []int{50},
		Vocabulary: []string{"cat", "dog", "bond", "stock"},
	}.Generate(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.NumDocs(), "documents,", c.Tokens(), "tokens")
	m, k := w.Dims()
	fmt.Printf("W is %d×%d\n", m, k)
	// Output:
	// 1000 documents, 50000 tokens
	// W is 1000×2
}

// Documents of one's own are the sequence that a function yields. A source that wraps another
// embeds it and changes one method; the rest is known of it as of the other.
func ExampleFromSeq() {
	reviews := corpus.FromSeq(func(yield func(corpus.Document, error) bool) {
		for i, review := range []string{"great sound", "poor sound"} {
			d := corpus.Document{Tokens: strings.Fields(review), Values: []corpus.Value{corpus.NumberOf(float64(5 - 4*i))}}
			if !yield(d, nil) {
				return
			}
		}
	}, corpus.Description{Columns: []corpus.Column{{Name: "stars", Kind: corpus.Number}}})

	c, err := corpus.Read(context.Background(), heavier{reviews, []float64{1, 3}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Vocabulary(), c.Weights(), c.Metadata().Value(1, 0))
	// Output: [great poor sound] [1 3] 1
}

// heavier gives the documents of a source weights.
type heavier struct {
	corpus.Source
	weights []float64
}

func (h heavier) Describe(ctx context.Context) (corpus.Description, error) {
	desc, err := h.Source.Describe(ctx)
	desc.Weights = h.weights
	return desc, err
}
