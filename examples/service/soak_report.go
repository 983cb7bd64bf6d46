package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// latencies counts times in buckets that are 2 % wide.
type latencies struct {
	n       int
	largest time.Duration
	buckets [1200]int
}

func (l *latencies) add(d time.Duration) {
	l.n++
	l.largest = max(l.largest, d)
	i := 0
	if d > time.Microsecond {
		i = min(int(math.Log(float64(d)/float64(time.Microsecond))/math.Log(1.02)), len(l.buckets)-1)
	}
	l.buckets[i]++
}

func (l *latencies) merge(o *latencies) {
	l.n += o.n
	l.largest = max(l.largest, o.largest)
	for i, n := range o.buckets {
		l.buckets[i] += n
	}
}

// quantile returns a time that a part q of all do not exceed.
func (l *latencies) quantile(q float64) time.Duration {
	left := int(math.Ceil(q * float64(l.n)))
	for i, n := range l.buckets {
		if left -= n; left <= 0 {
			return min(time.Duration(float64(time.Microsecond)*math.Pow(1.02, float64(i+1))), l.largest)
		}
	}
	return l.largest
}

// sample is what the service's metrics say at a time.
type sample struct{ goroutines, rss, live, cpu, log float64 }

func sampleOf(base string) (x sample, err error) {
	resp, err := http.Get(base + "/metrics")
	if err != nil {
		return x, err
	}
	defer resp.Body.Close()
	sc := bufio.NewScanner(resp.Body)
	for sc.Scan() {
		name, value, _ := strings.Cut(sc.Text(), " ")
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			continue // a comment
		}
		switch name {
		case "go_goroutines":
			x.goroutines = v
		case "process_resident_memory_bytes":
			x.rss = v
		case "go_gc_heap_live_bytes":
			x.live = v
		case "process_cpu_seconds_total":
			x.cpu = v
		case "topics_log_bytes":
			x.log = v
		}
	}
	return x, sc.Err()
}

// growth compares the last quarter of the samples with the second, each by its
// quantile q: 1 is the largest, for what refits need too, and a small q is for
// what there is between them.
func growth(samples []sample, q float64, of func(sample) float64) (second, last, ratio float64) {
	n := len(samples) / 4
	quantile := func(part []sample) float64 {
		var v []float64
		for _, x := range part {
			v = append(v, of(x))
		}
		slices.Sort(v)
		return v[int(q*float64(len(v)-1))]
	}
	if n == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	second, last = quantile(samples[n:2*n]), quantile(samples[len(samples)-n:])
	return second, last, last / second
}

func (s *soak) report(w io.Writer, took time.Duration, end sample) error {
	all := make(map[string]*latencies)
	total := 0
	for _, counts := range s.counts {
		for name, l := range counts {
			if all[name] == nil {
				all[name] = new(latencies)
			}
			all[name].merge(l)
			total += l.n
		}
	}
	fmt.Fprintf(w, "%d clients for %.0f s: %d requests, %.0f a second; %d documents inferred, %.0f a second, each compared with its model\n",
		s.clients, took.Seconds(), total, float64(total)/took.Seconds(), s.answers.Load(), float64(s.answers.Load())/took.Seconds())
	fmt.Fprintf(w, "%d models answered; %d refits under load; CPU of the service %.0f s\n", len(s.expected), s.refits, end.cpu)
	fmt.Fprintf(w, "%-32s %10s %10s %10s %10s\n", "route", "requests", "p50 ms", "p99 ms", "max ms")
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	ms := func(d time.Duration) float64 { return d.Seconds() * 1e3 }
	for _, name := range names {
		l := all[name]
		fmt.Fprintf(w, "%-32s %10d %10.2f %10.2f %10.2f\n", name, l.n, ms(l.quantile(0.5)), ms(l.quantile(0.99)), ms(l.largest))
	}
	fmt.Fprintf(w, "%-32s %10s %10s %10s\n", "", "2nd quarter", "last", "ratio")
	long := s.duration >= 2*time.Minute
	for _, g := range []struct {
		name    string
		unit, q float64
		of      func(sample) float64
		limit   float64 // of the ratio
	}{
		{"goroutines, least", 1, 0.05, func(x sample) float64 { return x.goroutines }, 1.1},
		{"resident memory, most, MB", 1e6, 1, func(x sample) float64 { return x.rss }, 1.15},
		{"live heap, least, MB", 1e6, 0.05, func(x sample) float64 { return x.live }, 1.15},
		{"log, most, MB", 1e6, 1, func(x sample) float64 { return x.log }, math.Inf(1)},
	} {
		second, last, ratio := growth(s.samples, g.q, g.of)
		fmt.Fprintf(w, "%-32s %10.1f %10.1f %10.3f\n", g.name, second/g.unit, last/g.unit, ratio)
		if long && ratio > g.limit {
			s.failed("%s grew by the factor %.2f", g.name, ratio)
		}
	}
	if n := s.failures.Load(); n > 0 {
		return fmt.Errorf("%d failures, the first: %s", n, strings.Join(s.messages, "\n"))
	}
	fmt.Fprintln(w, "no error")
	return nil
}
