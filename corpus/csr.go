package corpus

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/james-bowman/sparse"

	"github.com/jsmf-go/spectral/internal/atomicfile"
	"github.com/jsmf-go/spectral/internal/bag"
)

// FromCSR returns the corpus of an M×N matrix of counts, one row a document.
//
// vocab holds the N words (nil: they are called by their numbers from 0), ids and labels M
// strings each (nil: none). All are copied. No id may come twice. Entries may be in any order;
// duplicates are added up. Shape, indices and counts, integers from 0 to [MaxCount], are
// checked. O(nnz).
func FromCSR(h *sparse.CSR, vocab, ids, labels []string) (*Corpus, error) {
	if h == nil {
		return nil, errors.New("corpus: csr: the matrix is nil")
	}
	raw := h.RawMatrix()
	M, N := raw.I, raw.J
	switch {
	case M < 0 || N < 0:
		return nil, fmt.Errorf("corpus: csr: the shape is %d×%d", M, N)
	case N > math.MaxInt32:
		return nil, fmt.Errorf("corpus: csr: %d words are more than %d", N, math.MaxInt32)
	case len(raw.Indptr) != M+1:
		return nil, fmt.Errorf("corpus: csr: %d row pointers for %d rows, want %d", len(raw.Indptr), M, M+1)
	case len(raw.Ind) != len(raw.Data):
		return nil, fmt.Errorf("corpus: csr: %d column indices for %d values", len(raw.Ind), len(raw.Data))
	case vocab != nil && len(vocab) != N:
		return nil, fmt.Errorf("corpus: csr: %d words for %d columns", len(vocab), N)
	case ids != nil && len(ids) != M:
		return nil, fmt.Errorf("corpus: csr: %d ids for %d rows", len(ids), M)
	case labels != nil && len(labels) != M:
		return nil, fmt.Errorf("corpus: csr: %d labels for %d rows", len(labels), M)
	case M == 0:
		return nil, fmt.Errorf("corpus: csr: %w", ErrNoDocuments)
	case N == 0:
		return nil, fmt.Errorf("corpus: csr: %w", ErrEmptyVocabulary)
	case raw.Indptr[0] != 0:
		return nil, fmt.Errorf("corpus: csr: the row pointers begin with %d, want 0", raw.Indptr[0])
	}
	if err := checkIDs(ids, ""); err != nil {
		return nil, err
	}
	for m := range M {
		if lo, hi := raw.Indptr[m], raw.Indptr[m+1]; hi < lo || hi > len(raw.Ind) {
			return nil, fmt.Errorf("corpus: csr: the row pointers of row %d are %d and %d, of %d entries", m, lo, hi, len(raw.Ind))
		}
	}
	if n := raw.Indptr[M]; n != len(raw.Ind) {
		return nil, fmt.Errorf("corpus: csr: the row pointers end with %d, of %d entries", n, len(raw.Ind))
	}
	r := rows{indptr: make([]int, 1, M+1), words: make([]int32, 0, len(raw.Ind)), counts: make([]int32, 0, len(raw.Ind))}
	for m := range M {
		for i := raw.Indptr[m]; i < raw.Indptr[m+1]; i++ {
			w, x := raw.Ind[i], raw.Data[i]
			if w < 0 || w >= N {
				return nil, fmt.Errorf("corpus: csr: row %d: %w", m, bag.RangeError("word", int64(w), 0, int64(N)-1))
			}
			if !(x >= 0 && x <= MaxCount) || x != math.Trunc(x) {
				return nil, fmt.Errorf("corpus: csr: row %d, column %d: %w", m, w, bag.CountError(nameOf(ids, m), wordName(vocab, int32(w), 0), x))
			}
			if x > 0 {
				r.add(int32(w), int32(x))
			}
		}
		if w, sum := r.end(); w >= 0 {
			return nil, fmt.Errorf("corpus: csr: row %d, column %d: %w", m, w, bag.CountError(nameOf(ids, m), wordName(vocab, w, 0), sum))
		}
	}
	if vocab == nil {
		vocab = numbers(N, 0)
	}
	return newCorpus(slices.Clone(vocab), about{ids: slices.Clone(ids), labels: slices.Clone(labels)}, r.indptr, r.words, r.counts), nil
}

// numbers returns the names of n words without a vocabulary.
func numbers(n, first int) []string {
	v := make([]string, n)
	for i := range v {
		v[i] = strconv.Itoa(i + first)
	}
	return v
}

// WriteUCI writes the counts in UCI format (see UCI), and the words to vocab, one a line, unless
// it is nil. The format has no ids and labels. Words that could not be read back are an error:
// those that are empty, not UTF-8, begin or end with space, or hold a line break.
func (c *Corpus) WriteUCI(ctx context.Context, docword, vocab io.Writer) error {
	if vocab != nil {
		w := bufio.NewWriterSize(vocab, 1<<16)
		for i, s := range c.vocab {
			if s == "" || strings.TrimSpace(s) != s || strings.Contains(s, "\n") || !utf8.ValidString(s) || strings.HasPrefix(s, "\ufeff") {
				return fmt.Errorf("corpus: write UCI: word %d, %q, does not fit in a line of its own", i, s)
			}
			w.WriteString(s)
			w.WriteByte('\n')
		}
		if err := w.Flush(); err != nil {
			return fmt.Errorf("corpus: write UCI: vocabulary: %w", err)
		}
	}
	w := bufio.NewWriterSize(docword, 1<<16)
	fmt.Fprintf(w, "%d\n%d\n%d\n", c.NumDocs(), c.NumWords(), c.NNZ())
	for m := range c.NumDocs() {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("corpus: write UCI: %w", err)
		}
		words, counts := c.Doc(m)
		for i := range words {
			if _, err := fmt.Fprintf(w, "%d %d %d\n", m+1, words[i]+1, counts[i]); err != nil {
				return fmt.Errorf("corpus: write UCI: counts: %w", err)
			}
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("corpus: write UCI: counts: %w", err)
	}
	return nil
}

// SaveUCI writes the corpus in UCI format to files, gzipped if the path ends in .gz. An empty
// vocabPath writes no vocabulary. Each file replaces an old one of its name when it is complete,
// and keeps its permission bits; a new one gets 0666 less the umask. Symbolic links are
// followed; an old file that is not regular is an error.
func (c *Corpus) SaveUCI(ctx context.Context, docwordPath, vocabPath string) error {
	return save(docwordPath, func(docword io.Writer) error {
		if vocabPath == "" {
			return c.WriteUCI(ctx, docword, nil)
		}
		return save(vocabPath, func(vocab io.Writer) error { return c.WriteUCI(ctx, docword, vocab) })
	})
}

// save writes a file as replace does, gzipped if the path ends in .gz.
func save(path string, write func(io.Writer) error) error {
	return replace(path, func(w io.Writer) error {
		if !strings.HasSuffix(path, ".gz") {
			return write(w)
		}
		z := gzip.NewWriter(w)
		if err := write(z); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return fmt.Errorf("corpus: write %s: %w", path, err)
		}
		return nil
	})
}

// replace writes a file whole or not at all. Errors of write stay as they are.
func replace(path string, write func(io.Writer) error) error {
	var inner error
	err := atomicfile.Write(path, func(w io.Writer) error {
		inner = write(w)
		return inner
	})
	if err != nil && inner == nil {
		return fmt.Errorf("corpus: write %s: %w", path, err)
	}
	return err
}
