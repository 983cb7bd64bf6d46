package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

const (
	scaleStream = 200 // documents of a request, so that the client has little to do for each
	scaleRounds = 4   // in turns, so that what else the machine does meets both
)

// coreLoad is what was measured of a service on a number of cores.
type coreLoad struct {
	cores             int
	docs              int64
	wall, cpu, client float64 // seconds; of the clock, and of the CPUs for the service and for the clients
}

// compareCores measures how many documents the last model infers a second on one
// core and on two: two services, which are loaded in turns by clients that do no
// more than send what is ready and count the lines of the answers.
func (s *soak) compareCores(ctx context.Context, w io.Writer) (err error) {
	models, err := filepath.Glob(filepath.Join(s.dir, "data", "models", "*.jsmf"))
	if err != nil || len(models) == 0 {
		return errors.Join(errors.New("there is no model to compare one core and two with"), err)
	}
	newest := slices.Max(models)
	body := strings.Join(slices.Concat(s.one, s.one)[:scaleStream], "")
	loads := []*coreLoad{{cores: 1}, {cores: 2}}
	var services []*process
	for _, l := range loads {
		p, err := s.launch(l.cores, "-data", filepath.Join(s.dir, fmt.Sprintf("cores%d", l.cores)), "-model", newest)
		if err != nil {
			return err
		}
		defer p.kill()
		services = append(services, p)
	}
	for range scaleRounds {
		for i, l := range loads {
			if err := l.round(ctx, services[i].base, body, s.scale/scaleRounds); err != nil {
				return err
			}
		}
	}
	for _, p := range services {
		if err := p.stop(); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	printCores(w, loads[0], loads[1], runtime.NumCPU())
	return nil
}

// round loads a service for some time.
func (l *coreLoad) round(ctx context.Context, base, body string, d time.Duration) error {
	before, err := sampleOf(base)
	if err != nil {
		return err
	}
	mine := ownCPU()
	begun := time.Now()
	ctx, stop := context.WithTimeout(ctx, d)
	defer stop()
	const clients = 8
	docs, errs := make([]int64, clients), make([]error, clients)
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			tr := &http.Transport{}
			defer tr.CloseIdleConnections()
			for client := (&http.Client{Transport: tr, Timeout: time.Minute}); ctx.Err() == nil && errs[c] == nil; {
				n, err := stream(client, base, body)
				docs[c] += n
				errs[c] = err
			}
		})
	}
	wg.Wait()
	l.wall += time.Since(begun).Seconds()
	l.client += ownCPU() - mine
	after, err := sampleOf(base)
	if err != nil {
		return err
	}
	l.cpu += after.cpu - before.cpu
	for _, n := range docs {
		l.docs += n
	}
	return errors.Join(errs...)
}

// stream sends documents and returns how many were answered, which must be all.
func stream(client *http.Client, base, body string) (n int64, err error) {
	resp, err := client.Post(base+"/v1/infer", typeNDJSON, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	buf := make([]byte, 64<<10)
	for {
		k, err := resp.Body.Read(buf)
		n += int64(bytes.Count(buf[:k], []byte("\n")))
		if err == io.EOF {
			break
		}
		if err != nil {
			return n, err
		}
	}
	if resp.StatusCode != http.StatusOK || n != scaleStream {
		return n, fmt.Errorf("%s and %d answers for %d documents", resp.Status, n, scaleStream)
	}
	return n, nil
}

// printCores prints both measurements and their ratios.
func printCores(w io.Writer, one, two *coreLoad, cpus int) {
	fmt.Fprintf(w, "%-32s %10s %14s %14s %14s\n", "GOMAXPROCS of the service", "docs/s", "docs/CPU s", "its cores", "clients' cores")
	for _, l := range []*coreLoad{one, two} {
		fmt.Fprintf(w, "%-32d %10.0f %14.0f %14.2f %14.2f\n", l.cores, float64(l.docs)/l.wall, float64(l.docs)/l.cpu, l.cpu/l.wall, l.client/l.wall)
	}
	wall := float64(two.docs) / two.wall / (float64(one.docs) / one.wall)
	cpu := 2 * float64(two.docs) / two.cpu / (float64(one.docs) / one.cpu)
	fmt.Fprintf(w, "two cores to one: ×%.2f by the clock; ×%.2f by what a document costs the service in CPU time, were both cores its own\n", wall, cpu)
	switch busy := two.cpu / two.wall; {
	case cpus < 2:
		fmt.Fprintln(w, "the machine has one core: the ratio by the clock says nothing")
	case busy < 1.8 && busy+two.client/two.wall > 0.9*float64(cpus):
		fmt.Fprintf(w, "the clients are the bottleneck on two cores: they take %.2f of the machine's %d, the service gets %.2f\n", two.client/two.wall, cpus, busy)
	case busy < 1.8:
		fmt.Fprintf(w, "the service used %.2f of its two cores: the machine had other things to do, or the clients did not keep it busy\n", busy)
	}
}

// ownCPU returns the CPU time of this process in seconds, NaN where it cannot be
// told.
func ownCPU() float64 {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	families, err := r.Gather()
	if err != nil {
		return math.NaN()
	}
	for _, f := range families {
		if f.GetName() == "process_cpu_seconds_total" {
			return f.GetMetric()[0].GetCounter().GetValue()
		}
	}
	return math.NaN()
}
