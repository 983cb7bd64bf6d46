package store

import "context"

// Append writes records to the log and returns once they are on the disk, with
// the number of the last one: then they may be acknowledged. After an error none
// of them is in the log, unless the error is that of fsync, of which nothing is
// known but that the log takes no more records. A full disk is no such end: later
// calls may succeed (IsFull).
func (s *Store) Append(recs []Record) (last uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.publish()
	return s.log.append(recs)
}

// Replay calls f with every record after number after, in order. Data is f's own.
// f must not call the Store.
func (s *Store) Replay(ctx context.Context, after uint64, f func(seq uint64, r Record) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.replay(ctx, after, f)
}

// logState is what is told of the log without waiting for what is being written.
type logState struct {
	last     uint64
	bytes    int64
	segments int
	broken   error
}

// publish is called with s.mu held, after each change of the log.
func (s *Store) publish() {
	l := s.log
	s.state.Store(&logState{l.last, l.total, len(l.firsts), l.broken})
}

// Last returns the number of the last record, 0 if there is none.
func (s *Store) Last() uint64 { return s.state.Load().last }

// LogSize returns the bytes and the number of the log's segments.
func (s *Store) LogSize() (bytes int64, segments int) {
	st := s.state.Load()
	return st.bytes, st.segments
}

// Broken returns why the log takes no more records, nil if it does.
func (s *Store) Broken() error { return s.state.Load().broken }
