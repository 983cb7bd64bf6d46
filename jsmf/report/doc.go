// Package report shows a fitted model to people: Write makes one HTML file in
// which topics, their words, documents, correlations and quality can be looked at,
// searched and compared.
//
//	f, err := os.Create("report.html")
//	err = report.Write(f, m, report.Title("Topics of my notes"), report.Metrics(measured))
//	err = f.Close()
//
// The file holds all it needs. It asks nothing of the network, and its
// Content-Security-Policy forbids it to; it can be mailed, kept, printed, and read
// in light or dark, with mouse, keyboard or a screen reader, on a desktop or a phone.
// Words, ids, titles and snippets stay text, whatever they hold.
//
// What there is to see depends on what is given. The model alone shows an overview
// of the fit with its warnings; the topics by share, each with its words by
// probability or by relevance (Sievert and Shirley 2014: λ log p(w|k) + (1−λ) log
// p(w|k)/p(w), computed exactly for every place of the slider); the correlations
// as a network, a matrix and a list; a map of the words and anchors with their
// convex hull; and how the rectification converged. Options add the measures of
// Pipeline.Evaluate, representative documents, a hierarchy, the curation of the
// vocabulary and times.
//
// The same model and options give the same bytes on one type of CPU: the file
// holds no date.
//
// # For other tools
//
// WritePyLDAvis writes the JSON that the scripts of pyLDAvis draw, WriteTopicsCSV
// a table of the top words, and WriteNPY a matrix, such as Model.Topics,
// Model.Correlations or the W of Model.Transform, as NumPy reads it.
package report
