package serve

import (
	"encoding/json"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/jsmf-go/spectral/jsmf/serve/internal/store"
)

// clock reads two clocks: the wall clock, which anybody may set, and one that counts the
// time this process has run, and which nobody can set.
type clock func() (wall time.Time, running time.Duration)

// machineClock reads the clocks of the machine.
func machineClock() clock {
	begun := time.Now()
	return func() (time.Time, time.Duration) {
		now := time.Now()
		return now, now.Sub(begun)
	}
}

// ages gives documents their times, in microseconds. The time goes on while the process
// runs, by the clock that cannot be set, and never by more than that. If the wall
// clock has gone on further, the service was stopped or the clock was set, and there is no way to
// know which. The time then stays, so that no document becomes older by it, and what is
// missing is remembered as a gap until it is counted (Settings.TrustClock), or the clock is
// put back, or all documents before it are older than any that are kept.
type ages struct {
	clock clock
	keep  int64 // by so much after a gap it does not matter any more; 0: it always does

	mu      sync.Mutex
	running time.Duration // when the time was read last
	at      ageRecord
	changed bool  // of at, what the log does not have
	logged  int64 // the time that the log has
}

// ageRecord is what the log remembers of the time.
type ageRecord struct {
	Now     int64 `json:"now"`               // at which it was written
	Ahead   int64 `json:"ahead,omitempty"`   // by so much the wall clock was ahead of it, at least 0
	Gaps    []gap `json:"gaps,omitempty"`    // the first one first
	Counted []gap `json:"counted,omitempty"` // those that are counted from here on
}

// gap is time that may have passed: documents with earlier times may be older by that.
type gap struct {
	Before int64 `json:"before"`
	By     int64 `json:"by"`
}

const (
	// Below it the wall clock is right, and nothing is lost when the process ends.
	ageTolerance = int64(time.Minute / time.Microsecond)

	maxWall = int64(1) << 58 // 9,000 years; later times are wrong
	maxGaps = 1000
)

func newAges(cfg Settings) *ages {
	a := &ages{clock: cfg.clock, keep: cfg.MaxAge.Microseconds()}
	if a.keep == 0 && cfg.HalfLife < math.MaxInt64/64 {
		a.keep = 64 * cfg.HalfLife.Microseconds() // the weight is nothing then
	}
	return a
}

// wall reads the clocks.
func (a *ages) wall() (wall int64, running time.Duration) {
	t, running := a.clock()
	wall = maxWall
	if t.Before(time.UnixMicro(maxWall)) {
		wall = max(0, t.UnixMicro())
	}
	return wall, running
}

// begin resumes the time after a start. newest is the latest time of a document, 0 if
// there never was one.
func (a *ages) begin(newest int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	wall, running := a.wall()
	a.running = running
	if a.at.Now = max(a.at.Now, newest); a.at.Now == 0 {
		a.at.Now = wall
	}
	a.logged = a.at.Now
}

// read brings the time up to date. newest is the latest time of a document; step is how
// far the wall clock has gone on beyond the time, or has been put back, if that is worth
// reporting.
func (a *ages) read(newest int64) (now int64, step int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	wall, running := a.wall()
	if passed := (running - a.running).Microseconds(); passed > 0 {
		a.at.Now += passed
		a.running += time.Duration(passed) * time.Microsecond
	}
	at := &a.at
	step = wall - at.Now - at.Ahead
	switch {
	case step >= ageTolerance:
		at.Ahead += step
		at.Gaps = append(at.Gaps, gap{max(at.Now, newest+1), step})
		if len(at.Gaps) > maxGaps { // two become one, for the documents before both
			at.Gaps[1] = gap{at.Gaps[0].Before, at.Gaps[0].By + at.Gaps[1].By}
			at.Gaps = at.Gaps[1:]
		}
		a.changed = true
	case step <= -ageTolerance && at.Ahead > 0:
		step = max(step, -at.Ahead)
		at.Ahead += step
		for left := -step; left > 0 && len(at.Gaps) > 0; {
			last := &at.Gaps[len(at.Gaps)-1]
			by := min(left, last.By)
			left -= by
			if last.By -= by; last.By == 0 {
				at.Gaps = at.Gaps[:len(at.Gaps)-1]
			}
		}
		a.changed = true
	default:
		step = 0
	}
	for a.keep > 0 && len(at.Gaps) > 0 && at.Now-at.Gaps[0].Before >= a.keep {
		at.Gaps, a.changed = at.Gaps[1:], true
	}
	return at.Now, step
}

// record returns what is to be written to the log; ok is false if the log has it.
func (a *ages) record(force bool) (r store.Record, ok bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.changed && !(force && a.at.Ahead > 0) && a.at.Now-a.logged < ageTolerance {
		return r, false, nil
	}
	b, err := json.Marshal(a.at)
	if err != nil {
		return r, false, fmt.Errorf("serve: %w", err)
	}
	return store.Record{Op: opTime, Data: b}, true, nil
}

// written notes that the log has the record, or documents of a time.
func (a *ages) written(now int64, record bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.logged = max(a.logged, now)
	if record {
		a.changed = false
	}
}

// uncounted returns the time that the wall clock says has passed and that is not counted,
// as it is now.
func (a *ages) uncounted() (sum int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	wall, running := a.wall()
	for _, g := range a.at.Gaps {
		sum += g.By
	}
	// What the next document would find.
	if step := wall - a.at.Now - (running - a.running).Microseconds() - a.at.Ahead; step >= ageTolerance || step <= -ageTolerance {
		sum = max(0, sum+step)
	}
	return sum
}

// lasting is a time in microseconds as a time.Duration.
func lasting(micro int64) time.Duration {
	return time.Duration(min(micro, math.MaxInt64/1000)) * time.Microsecond
}

// countTime resumes the time after a start and, if the configuration says so, counts all time
// that was not counted.
func (s *Service) countTime() error {
	s.ages.begin(s.newest)
	s.readTime()
	if !s.cfg.TrustClock || len(s.ages.at.Gaps) == 0 {
		return nil
	}
	at := &s.ages.at
	sum, gone := int64(0), 0
	for _, g := range at.Gaps {
		n, err := s.held.Backdate(g.Before, g.By)
		if err != nil {
			return err
		}
		sum, gone = sum+g.By, gone+n
	}
	at.Gaps, at.Counted = nil, at.Gaps
	r, _, err := s.ages.record(true)
	if err != nil {
		return err
	}
	if s.seq, err = s.store.Append([]store.Record{r}); err != nil {
		return err
	}
	at.Counted = nil
	s.ages.written(at.Now, true)
	s.cfg.Log.Info("time that the clock says has passed is counted now, as -trust-clock says", "time", lasting(sum), "let go", gone)
	return nil
}

// readTime brings the time of documents up to date and says what the clock has done.
func (s *Service) readTime() int64 {
	now, step := s.ages.read(s.newest)
	switch {
	case s.cfg.MaxAge == 0 && s.cfg.HalfLife == 0: // nothing depends on ages
	case step > 0:
		s.cfg.Log.Warn("the clock says that more time has passed than the service has run; documents are not older by it unless a start with -trust-clock confirms it",
			"more", lasting(step), "not counted", lasting(s.ages.uncounted()))
	case step < 0:
		s.cfg.Log.Info("the clock was put back; what it was ahead is forgotten", "by", lasting(-step), "not counted", lasting(s.ages.uncounted()))
	}
	return now
}

// saveTime writes the time to the log, where that does not have it. The caller is the
// writer. It must succeed before a snapshot may take the place of records.
func (s *Service) saveTime(force bool) error {
	now := s.readTime()
	r, ok, err := s.ages.record(force)
	if err != nil || !ok {
		return err
	}
	last, err := s.write([]store.Record{r})
	if err != nil {
		return err
	}
	s.documents.Lock()
	s.seq = last
	s.documents.Unlock()
	s.ages.written(now, true)
	return nil
}
