package corpus

import "math"

// IDF returns the inverse document frequency ln(M/df) of each word, the weight
// that its counts get in tf-idf: 0 for a word that is in every document, and for
// one that is in none. (Curate scores words with ⌊M/df⌋ unless told
// otherwise.) The slice, of length N, is the caller's own. O(nnz).
func (c *Corpus) IDF() []float64 {
	idf := make([]float64, c.NumWords())
	for w, df := range c.DocFrequencies() {
		if df > 0 {
			idf[w] = math.Log(float64(c.NumDocs()) / float64(df))
		}
	}
	return idf
}
