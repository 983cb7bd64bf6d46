package find_test

import (
	"context"
	"fmt"
	"log"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/find"
)

// sports returns documents on sports, cooking and gardens, and their model.
func sports() (*jsmf.Model, *jsmf.Compositions) {
	ctx := context.Background()
	texts := []string{
		"goal match team goal player match", "team player goal coach match team", "match coach team player goal team",
		"oven flour butter recipe onion soup", "butter recipe soup oven flour onion", "soup onion recipe oven butter flour",
		"seed soil rose spade hedge rose", "hedge spade seed rose soil soil", "rose seed hedge soil spade seed",
	}
	var b corpus.Builder
	for i := range 90 {
		if err := b.AddText(fmt.Sprintf("note %d", i), []string{"sport", "kitchen", "garden"}[i%9/3], texts[i%9]); err != nil {
			log.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		log.Fatal(err)
	}
	m, err := jsmf.Published(3).Fit(ctx, c)
	if err != nil {
		log.Fatal(err)
	}
	docs, err := m.Transform(ctx, c.Source())
	if err != nil {
		log.Fatal(err)
	}
	return m, docs
}

// The documents of a topic, and those similar to a new one among those of a label.
func ExampleDocuments() {
	m, c := sports()
	docs, err := find.NewDocuments(m, c)
	if err != nil {
		log.Fatal(err)
	}
	topics, err := docs.TopTopics("note 0", 1)
	if err != nil {
		log.Fatal(err)
	}
	top, err := docs.TopDocuments(topics[0].Index, 3, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range top {
		fmt.Println(c.Labels[d.Index])
	}
	asked, err := m.Transform(context.Background(), m.Texts("a rose and a hedge"))
	if err != nil {
		log.Fatal(err)
	}
	similar, err := docs.SimilarTo(asked.W.RawRowView(0), 1, func(row int) bool { return c.Labels[row] != "sport" })
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Labels[similar[0].Index])
	// Output:
	// sport
	// sport
	// sport
	// garden
}

// Similar words, what to recommend, and which words make a document what it is.
func ExampleWords() {
	m, _ := sports()
	words, err := find.NewWords(context.Background(), m)
	if err != nil {
		log.Fatal(err)
	}
	similar, err := words.SimilarWords("butter", 2)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(similar[0].Name, similar[1].Name)
	more, err := words.Recommend([]string{"oven", "flour", "butter", "recipe"}, 2)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(more[0].Name, more[1].Name)
	x, err := words.Explain("goal goal team match match coach player rose unheard")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d tokens, %d unknown, %d unlikely: %.0f %% covered\n", x.Tokens, x.Unknown, x.Unlikely, 100*x.Covered())
	for _, w := range x.Words {
		if w.Unlikely {
			fmt.Println("unlikely:", w.Word)
		}
	}
	// Output:
	// flour onion
	// onion soup
	// 8 tokens, 1 unknown, 1 unlikely: 78 % covered
	// unlikely: rose
}
