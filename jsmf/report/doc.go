// Package report shows a fitted model to people: [Write] makes one HTML file in
// which topics, their words, documents, correlations and quality can be browsed,
// searched and compared.
//
//	f, err := os.Create("report.html")
//	err = report.Write(f, m, report.Options{Title: "Topics of my notes", Metrics: measured})
//	err = f.Close()
//
// The file needs no other and makes no request; its Content-Security-Policy forbids
// requests. It works on paper, in light and dark, with a mouse, a keyboard or a
// screen reader, on a desktop or a phone. Words, ids, titles and snippets are shown
// as text, whatever they hold.
//
// The page begins with what was found, the sentences of [Findings] with small curves, next to the largest
// topics with their intervals. The model alone gives these; the topics by share, each
// with its name, its number from 0 as in the API, and the words by which to recognise it
// (Model.TopWords), or its words by relevance (Sievert and Shirley 2014, exact for every
// position of the slider), with background topics marked; a map of topics, near each other
// where their words are alike; the tree of topics that were found by splitting fewer
// (Model.Tree), in which each level is a list and groups open; the correlations as a network, a matrix and a list;
// and the convergence of the rectification. A
// model that holds verdicts and a bootstrap (Model.With) is shown with how
// good each topic is, the intervals of shares and correlations, and how often a topic comes
// back. Of more than 250 topics the drawings and the matrix of correlations show groups: those of
// the finest level of the tree that has so few, or without one groups around the largest topics,
// and effects are those on the 250 largest. The first topic shown is the largest sound one.
//
// [Options] add measures, effects of metadata, a hierarchy, a sweep, the curation of the
// vocabulary, times, and documents on a map, up to 100,000 of them: each
// among its topics, to be searched by words or by a text that they are to be like, filtered by labels and metadata, chosen by areas, compared
// and read, with the words of a topic marked. [Nouns] lets the page speak of artists and
// listeners, or items and baskets, instead of words and documents.
//
// # What readers can take away
//
// Each drawing is saved as PNG or SVG, in the colours shown, with its title, what its signs mean, the
// title of the page and the date, and each table and list as CSV, in full and with all digits that the page
// has. The address of the page says which topic is shown, what is searched for and which documents are
// chosen: #topic-21, or #topic-21&text=glass&by.side=left. What "show more" hides is on paper.
//
// Topics can be renamed and merged. All views follow, and the browser keeps the edits for pages of the
// same model, where it may; every edit can be undone. Merged topics add up their shares and correlations, and have the mean of
// their words, as far as the page knows them; it shows no measures and intervals for them. A topic can be
// dropped, or split with the documents, and a word can be kept out of a topic or of all names, or be a stop word: the page only
// marks these.
// The edits are saved as JSON, which [jsmf.Edits] reads and Model.Edit applies in full, or
// Pipeline.Edit where topics are split:
//
//	var e jsmf.Edits
//	err := json.Unmarshal(saved, &e)
//	m, err = m.Edit(e)
//
// The same model and options give the same bytes on one type of CPU: the file holds no date.
// For other tools, [WriteTopicsCSV] writes a table of the top words, [WriteDocumentsCSV] one of
// the topic proportions of documents, and [WriteNPY] a matrix as NumPy reads it.
package report
