package serve

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"
)

// mediaType returns the type of a request's body without its parameters.
func mediaType(r *http.Request) (string, *problem) {
	t, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return "", fail(http.StatusUnsupportedMediaType, "the Content-Type is missing or cannot be read")
	}
	if cs, ok := params["charset"]; ok && !strings.EqualFold(cs, "utf-8") {
		return "", fail(http.StatusUnsupportedMediaType, "the charset %s: only UTF-8 is taken", quote(cs))
	}
	return t, nil
}

// body reads what a client sends. It limits the time, the bytes that come and the bytes that a
// gzip stream unpacks to.
type body struct {
	r     io.Reader
	limit int64
	left  int64
	size  int64 // that it says it has, -1 if it says nothing
	held  *hold // its memory; nil: another one's

	client *patient // who sends it
}

var errTooLarge = errors.New("too large")

// openBody waits for memory and returns a request's body, decompressed, of which at most limit
// bytes can be read. A body that will be read whole needs memory for all of it. The caller
// closes the body when the answer is made.
func (s *Service) openBody(w http.ResponseWriter, r *http.Request, limit int64, whole bool) (_ *body, p *problem) {
	if r.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	stall := s.cfg.Limits.Stall
	size := int64(-1)
	need := int64(bodyBytes)
	switch {
	case r.Header.Get("Content-Encoding") != "":
		need += gzipBytes
	case r.ContentLength >= 0:
		size = r.ContentLength
	}
	if whole {
		need += max(size, 0) + 1
	}
	held, p := s.hold(r.Context(), s.client(r), need)
	if p != nil {
		return nil, p
	}
	defer func() {
		if p != nil {
			held.free()
		}
	}()
	deadline, _ := r.Context().Deadline()
	client := &patient{r: r.Body, rc: http.NewResponseController(w), stall: stall, least: int64(float64(s.cfg.Limits.Rate) * stall.Seconds()), deadline: deadline}
	var in io.Reader = client
	switch enc := r.Header.Get("Content-Encoding"); strings.ToLower(enc) {
	case "", "identity":
	case "gzip":
		in = &body{r: in, limit: limit, left: limit, size: -1} // as it comes
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, readProblem(err, limit)
		}
		in = z
	default:
		p := fail(http.StatusUnsupportedMediaType, "the Content-Encoding %s: only gzip is taken", quote(enc))
		return nil, p
	}
	return &body{in, limit, limit, size, held, client}, nil
}

// close gives back the memory of the body and of what came of it.
func (b *body) close() { b.held.free() }

func tooLarge(limit int64) *problem {
	return fail(http.StatusRequestEntityTooLarge, "the body has more than %d bytes", limit)
}

func (b *body) Read(p []byte) (int, error) {
	if b.left == 0 {
		// One byte more tells a body of just the limit from a larger one.
		n, err := b.r.Read(make([]byte, 1))
		if n > 0 {
			err = errTooLarge
		}
		return 0, err
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.r.Read(p)
	b.left -= int64(n)
	return n, err
}

// patient waits for each read for some time only, and not beyond the deadline
// of the request. A client that sends in drops is not waited for either: least
// bytes have to come while it waits for stall. What the service takes for them between the
// reads does not count.
type patient struct {
	r        io.Reader
	rc       *http.ResponseController
	stall    time.Duration
	least    int64
	deadline time.Time
	upload   *large // what the body is; nil: no matter

	waited time.Duration // since it last had enough
	got    int64         // in that time

	// Of the whole body.
	begun time.Time
	idle  time.Duration // waiting for the client
	all   int64         // bytes that have come
}

// lateError is the number of bytes that had come of a request's body when its time was
// over. The client was not what took the time.
type lateError int64

func (e lateError) Error() string {
	return fmt.Sprintf("the request took too long: %d bytes of its body had come", int64(e))
}

func (p *patient) Read(b []byte) (int, error) {
	begun := time.Now()
	if p.begun.IsZero() {
		p.begun = begun
	}
	wait := p.stall
	if p.got < p.least {
		wait -= p.waited
	}
	t := begun.Add(wait)
	if t.After(p.deadline) {
		t = p.deadline
	}
	// Where the connection has no deadlines, as in tests without a connection, the
	// server's own timeouts must suffice.
	_ = p.rc.SetReadDeadline(t)
	if p.upload != nil {
		p.upload.wait()
	}
	n, err := p.r.Read(b)
	if p.upload != nil {
		p.upload.come(n)
	}
	p.got += int64(n)
	p.all += int64(n)
	took := time.Since(begun)
	p.idle += took
	if p.waited += took; p.waited >= p.stall {
		if err == nil && p.got < p.least {
			err = os.ErrDeadlineExceeded
		}
		p.waited, p.got = 0, 0
	}
	if now := time.Now(); errors.Is(err, os.ErrDeadlineExceeded) && !now.Before(p.deadline) && p.idle < now.Sub(p.begun)*3/4 {
		err = lateError(p.all)
	}
	if err == io.EOF {
		// The server goes on reading, to notice when the client goes; that may
		// take as long as the answer does.
		_ = p.rc.SetReadDeadline(time.Time{})
	}
	return n, err
}

// readProblem says why a body could not be read.
func readProblem(err error, limit int64) *problem {
	var corrupt flate.CorruptInputError
	var late lateError
	switch {
	case errors.As(err, &late):
		return busy(http.StatusServiceUnavailable, "%v", late)
	case errors.Is(err, errTooLarge):
		return tooLarge(limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fail(http.StatusRequestTimeout, "the body did not come in time")
	case errors.As(err, &corrupt) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader):
		return fail(http.StatusBadRequest, "the body is no gzip stream: %v", err)
	}
	p := fail(http.StatusBadRequest, "the body ended too early")
	p.cause = err
	return p
}

// readAll reads a whole body, which was opened for that.
func (b *body) readAll() ([]byte, *problem) {
	all := make([]byte, 0, max(b.size, 0)+1)
	for {
		n, err := b.Read(all[len(all):cap(all)])
		all = all[:len(all)+n]
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return nil, readProblem(err, b.limit)
		}
		if len(all) == cap(all) {
			more := min(max(2*cap(all), 4<<10), int(b.limit)+1)
			if p := b.held.take(int64(more)); p != nil { // and what it has now is garbage
				return nil, p
			}
			all = append(make([]byte, 0, more), all...)
		}
	}
}

// lines reads the lines of a stream, each with a limit.
type lines struct {
	r     *bufio.Reader
	body  *body
	limit int64
	n     int // lines read
	buf   []byte
}

func (b *body) lines(limit int64) *lines {
	return &lines{r: bufio.NewReaderSize(b, 32<<10), body: b, limit: limit}
}

// next returns the next line that is not blank, good until the next call; nil at
// the end.
func (l *lines) next() ([]byte, *problem) {
	for {
		l.buf = l.buf[:0]
		l.n++
		for {
			part, err := l.r.ReadSlice('\n')
			n := len(l.buf) + len(part)
			if int64(n) > l.limit {
				return nil, l.at(fail(http.StatusRequestEntityTooLarge, "the line has more than %d bytes", l.limit))
			}
			if n > cap(l.buf) {
				more := max(2*cap(l.buf), n, 4<<10)
				if p := l.body.held.take(int64(more)); p != nil {
					return nil, l.at(p)
				}
				l.buf = append(make([]byte, 0, more), l.buf...)
			}
			l.buf = append(l.buf, part...)
			if err == bufio.ErrBufferFull {
				continue
			}
			if err == io.EOF {
				if line := bytes.TrimSpace(l.buf); len(line) > 0 {
					return line, nil
				}
				return nil, nil
			}
			if err != nil {
				return nil, l.at(readProblem(err, l.body.limit))
			}
			break
		}
		if line := bytes.TrimSpace(l.buf); len(line) > 0 {
			return line, nil
		}
	}
}

// at says which line a problem is in.
func (l *lines) at(p *problem) *problem {
	p.Line = l.n
	return p
}
