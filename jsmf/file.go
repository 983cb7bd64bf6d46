package jsmf

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/atomicfile"
	"github.com/jsmf-go/spectral/internal/modelfile"
	"github.com/jsmf-go/spectral/internal/nanjson"
	recovery "github.com/jsmf-go/spectral/recover"
)

// What may be wrong with a model file, for errors.Is. The error's text says where.
var (
	// ErrNotModel: the file does not begin as a model file does.
	ErrNotModel = modelfile.ErrNotModel
	// ErrUnsupported: the file has another version, or a required section, that this version of the
	// library does not know.
	ErrUnsupported = modelfile.ErrUnsupported
	// ErrTruncated: the file ends too early. Such errors also match io.ErrUnexpectedEOF.
	ErrTruncated = modelfile.ErrTruncated
	// ErrChecksum: bytes have changed since the file was written.
	ErrChecksum = modelfile.ErrChecksum
	// ErrInvalid: the checksums are right, but the content makes no model.
	ErrInvalid = modelfile.ErrInvalid
)

// sections is the table of a model's parts, in the order in which a file has them: see FORMAT.md.
func (m *Model) sections() []modelfile.Section {
	n, k := m.n, m.k
	return []modelfile.Section{
		{Tag: "VOCB", Field: "vocabulary", Required: true, Content: modelfile.Texts(&m.vocab, n, "word")},
		{Tag: "BMAT", Compact: "BSPA", Field: "topics", Required: true, Needed: true, Content: modelfile.Table(&m.topics, n, k), Check: m.checkTopics},
		{Tag: "WTOP", Field: "word_topics", Required: true, Content: modelfile.Floats(&m.wordTopics, n*k), Check: m.checkWordTopics},
		{Tag: "AMAT", Compact: "ATRI", Field: "correlations", Required: true, Needed: true, Content: modelfile.Symmetric(&m.corr, k), Check: func() error { return checkSymmetric("A", m.corr, k) }},
		{Tag: "ANCH", Field: "anchors", Required: true, Content: modelfile.List(&m.anchors, k, "anchor"), Check: m.checkAnchors},
		{Tag: "GRUP", Field: "anchor_groups", Content: modelfile.List(&m.groups, k, "group"), Check: m.checkGroups},
		{Tag: "MARG", Field: "marginals", Required: true, Needed: true, Content: modelfile.Floats(&m.marginals, n), Check: m.checkMarginals},
		{Tag: "ALPH", Field: "alpha", Content: modelfile.Floats(&m.alpha, k), Check: m.checkAlpha},
		{Tag: "LOGI", Field: "logits", Content: modelfile.FloatParts(3+k, m.logitParts, m.setLogits), Check: m.checkLogits},
		{Tag: "PROV", Field: "provenance", Content: modelfile.JSON(&m.prov)},
		{Tag: "STAT", Field: "stats", Content: modelfile.JSON(&m.stats), Check: m.checkStats},
		{Tag: "DUAL", Field: "dual", Content: modelfile.Floats(&m.dual, k*k), Check: func() error { return checkSymmetric("Λ/M", m.dual, k) }},
		{Tag: "TEXT", Field: "text", Required: true, Content: modelfile.Bytes(m.textBytes, func(b []byte) error { return json.Unmarshal(b, &m.prov.Text) }), Check: m.checkText},
		{Tag: "READ", Compact: "RSPA", Field: "reading", Content: modelfile.Table(&m.reading, n, k), Check: m.checkReading},
		{Tag: "BACK", Field: "background", Content: modelfile.List(&m.background, k, "flag")},
		{Tag: "TREE", Field: "tree", Content: modelfile.JSON(&m.tree), Check: m.checkTree},
		{Tag: "NAME", Field: "names", Content: modelfile.Texts(&m.add.Names, k, "name"), Check: func() error { return checkNames(m.add.Names) }},
		{Tag: "DOCS", Field: "documents", Content: modelfile.Bytes(m.add.Documents.bytes, func(b []byte) (err error) { m.add.Documents, err = readCompositions(b, k); return err }), Check: func() error { return m.add.Documents.Validate(k) }},
		{Tag: "BOOT", Field: "uncertainty", Content: modelfile.Bytes(m.uncertaintyBytes, m.setUncertainty), Check: func() error { return m.add.Uncertainty.check(n, m.families()) }},
		{Tag: "PAIR", Field: "uncertainty", Required: true, Content: modelfile.FloatParts(0, m.pairParts, m.setPairs)},
		{Tag: "VERD", Field: "verdicts", Content: modelfile.JSON(&m.add.Verdicts), Check: func() error { return checkVerdicts(m.add.Verdicts, k) }},
		{Tag: "DROP", Field: "dropped topics", Required: true, Content: modelfile.Bytes(m.droppedBytes, m.setDropped), Check: m.checkDropped},
	}
}

// WriteTo writes the model to w in the format of FORMAT.md and returns how many bytes w took. A
// model gives the same bytes on every machine. Durations are not written. A file takes at most the
// bytes that the documentation of Model names, the vocabulary, and some kilobytes. Of matrices of
// which most entries are the smallest of their column it has the others: with many topics, whose
// words are mostly those of other topics, it takes a fifth or less.
func (m *Model) WriteTo(w io.Writer) (_ int64, err error) {
	defer while("write model", &err)
	return modelfile.Write(w, m.n, m.k, m.sections())
}

var _ io.WriterTo = (*Model)(nil)

// Hash returns the SHA-256, in hexadecimal, of what WriteTo writes, less the versions and the machine in the
// provenance. Two people who fit the same documents with the same settings compare it, or its
// first letters.
func (m *Model) Hash() (string, error) {
	same := *m
	same.prov.Version, same.prov.FormatVersion, same.prov.Go, same.prov.OS, same.prov.Arch = "", 0, "", "", ""
	h := sha256.New()
	if _, err := same.WriteTo(h); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// ReadModel reads a model that WriteTo wrote, and checks everything in it. It reads no further than
// the end of the model. Wrap a source that is slow with small reads in a bufio.Reader.
//
// Errors wrap [ErrNotModel], [ErrUnsupported], [ErrTruncated], [ErrChecksum], [ErrInvalid], or an
// error of r, and say at which byte. The memory taken is in proportion to the bytes in r, whatever
// sizes they claim.
func ReadModel(r io.Reader) (*Model, error) {
	m := new(Model)
	if err := modelfile.Read(r, m.begin); err != nil {
		return nil, errorf("read model: %w", err)
	}
	return m.ready(), nil
}

// begin makes room for a model of n words and k topics.
func (m *Model) begin(n, k int) []modelfile.Section {
	m.n, m.k = n, k
	return m.sections()
}

// Save writes the model to the file path atomically: the bytes go to a new file in the same folder,
// which takes the name only once they are on the disk. After an error the old content is still
// there and the new file is gone, unless the error says that the file has been replaced and only its
// new name could not be made durable.
//
// A file that is replaced keeps its permission bits; a new one gets 0666 less the umask. A symbolic
// link is followed. Save refuses to replace anything but a regular file. On Windows a file that is
// open elsewhere, or read-only, cannot be replaced. Errors name the path.
func (m *Model) Save(path string) error {
	return saveFile(path, func(w io.Writer) error {
		_, err := m.WriteTo(w)
		return err
	})
}

// saveFile writes a file atomically with what write writes.
func saveFile(path string, write func(io.Writer) error) (err error) {
	defer while("save "+path, &err)
	return atomicfile.Write(path, write)
}

// LoadModel reads a model from the file path, as [ReadModel] does. Bytes after the model are an
// error. Errors name the path.
func LoadModel(path string) (_ *Model, err error) {
	defer while("load "+path, &err)
	m := new(Model)
	if err := modelfile.Load(path, m.begin); err != nil {
		return nil, err
	}
	return m.ready(), nil
}

// textBytes returns what a file holds of the text setting.
func (m *Model) textBytes() ([]byte, error) {
	if m.prov.Text == nil {
		return nil, nil
	}
	return json.Marshal(m.prov.Text)
}

// uncertaintyBytes returns what the JSON of a file holds of the uncertainty, without its pairs.
func (m *Model) uncertaintyBytes() ([]byte, error) {
	if m.add.Uncertainty == nil {
		return nil, nil
	}
	u := *m.add.Uncertainty
	u.Pairs = nil
	return nanjson.Marshal(u)
}

// setUncertainty takes over what uncertaintyBytes returned, next to the pairs that setPairs has set.
func (m *Model) setUncertainty(b []byte) error {
	var u Uncertainty
	if err := nanjson.Unmarshal(b, &u); err != nil {
		return err
	}
	if m.add.Uncertainty != nil {
		u.Pairs = m.add.Uncertainty.Pairs
	}
	m.add.Uncertainty = &u
	return nil
}

// droppedBytes returns the model with the topics that were dropped, as a file of its own.
func (m *Model) droppedBytes() ([]byte, error) {
	if m.all == nil {
		return nil, nil
	}
	all := *m.all
	all.vocab, all.stats, all.prov = nil, Stats{}, Provenance{}
	var b bytes.Buffer
	_, err := modelfile.Write(&b, all.n, all.k, all.sections())
	return b.Bytes(), err
}

// setDropped takes over what droppedBytes returned.
func (m *Model) setDropped(b []byte) error {
	m.all = new(Model)
	return modelfile.Read(bytes.NewReader(b), func(n, k int) []modelfile.Section {
		s := m.all.begin(n, k)
		return s[:len(s)-1] // of which none was dropped
	})
}

// checkDropped checks the sizes of the model with the topics that were dropped.
func (m *Model) checkDropped() error {
	if m.all != nil && (m.all.n != m.n || m.all.k <= m.k) {
		return fmt.Errorf("with them the model has %d words and %d topics, and without %d and %d", m.all.n, m.all.k, m.n, m.k)
	}
	return nil
}

// pairNumbers is how many numbers a file has for a pair of topics.
const pairNumbers = 6

// pairParts returns the intervals of the pairs of topics.
func (m *Model) pairParts() [][]float64 {
	if m.add.Uncertainty == nil {
		return nil
	}
	out := make([]float64, 0, pairNumbers*len(m.add.Uncertainty.Pairs))
	for _, x := range m.add.Uncertainty.Pairs {
		out = append(out, float64(x.K), float64(x.L), x.Correlation.Value, x.Correlation.Low, x.Correlation.High, x.Correlation.Bias)
	}
	return [][]float64{out}
}

// setPairs takes over what pairParts returned.
func (m *Model) setPairs(x []float64) error {
	if len(x)%pairNumbers != 0 {
		return fmt.Errorf("has %d numbers, want %d for each pair", len(x), pairNumbers)
	}
	if m.add.Uncertainty == nil {
		m.add.Uncertainty = new(Uncertainty)
	}
	u := m.add.Uncertainty
	u.Pairs = make([]PairUncertainty, 0, len(x)/pairNumbers)
	for ; len(x) > 0; x = x[pairNumbers:] {
		u.Pairs = append(u.Pairs, PairUncertainty{int(x[0]), int(x[1]), Interval{x[2], x[3], x[4], x[5]}})
	}
	return nil
}

// logitParts returns the numbers of the logistic-normal prior.
func (m *Model) logitParts() [][]float64 {
	p := m.logits
	if p == nil {
		return nil
	}
	n := len(p.Mean)
	cov, families := make([]float64, 0, n*n), make([]float64, len(p.Families))
	for i := range n {
		for j := range n {
			cov = append(cov, p.Covariance.At(i, j))
		}
	}
	for t, f := range p.Families {
		families[t] = float64(f)
	}
	return [][]float64{{p.Information}, p.Mean, cov, families}
}

// setLogits takes over what logitParts returned.
func (m *Model) setLogits(x []float64) error {
	n, p := m.k, &recovery.LogisticNormal{Information: x[0]}
	if len(x) != 1+n+n*n {
		if n = int(math.Sqrt(float64(len(x) - 1 - m.k))); n < 1 || len(x) != 1+n+n*n+m.k {
			return fmt.Errorf("has %d numbers, want 1 + F + F², with F = K = %d or K more for some F", len(x), m.k)
		}
		p.Families = make([]int, m.k)
		for t, v := range x[1+n+n*n:] {
			if p.Families[t] = int(v); float64(p.Families[t]) != v {
				return fmt.Errorf("has topic %d in family %v", t, v)
			}
		}
	}
	p.Mean, p.Covariance = x[1:1+n], mat.NewSymDense(n, x[1+n:1+n+n*n])
	m.logits = p
	return checkSymmetric("the covariance", x[1+n:1+n+n*n], n)
}

// checkLogits checks the logistic-normal prior.
func (m *Model) checkLogits() error {
	if m.logits == nil {
		return nil
	}
	return m.logits.Validate(m.k)
}
