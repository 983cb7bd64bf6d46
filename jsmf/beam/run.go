package beam

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow"
)

// Runner says where pipelines run. The zero value is Prism in this process, unless Beam's own
// flags say otherwise. They hold for what is not here: --endpoint, --environment_type,
// --environment_config, --worker_binary, --parallelism, and those of Dataflow.
//
// Prism in this process is started with the first job and ends with the process. It listens
// on a port of its choice on all interfaces, and whoever reaches the port can run programs.
// Where others can reach the machine, run it in a network namespace or behind a firewall.
type Runner struct {
	// Name of the runner: prism, flink, spark, universal or dataflow. The default is that of
	// the flag --runner, or else prism.
	Name string

	// Shares is how many shares the documents are dealt out in when something is added up
	// over them. A share is added up on one worker, by all cores of it that are free, and
	// its sum is sent to be added to the others: a pass shuffles Shares sums. The default
	// is 1 for Prism in this process, or else the flag --parallelism, or else 16.
	Shares int

	// Timeout is how long a job may take. After it the job is cancelled, which counts as a
	// failure. The default is 6 hours.
	Timeout time.Duration

	// Tries is how often a job is tried before its error is returned. The default is 2.
	Tries int
}

// portable are the names of runners that take jobs by Beam's job service.
var portable = []string{
	"prism", "PrismRunner", "flink", "FlinkRunner", "spark", "SparkRunner",
	"universal", "portable", "PortableRunner",
}

var dataflow = []string{"dataflow", "DataflowRunner"}

func (r Runner) name() string {
	switch {
	case r.Name != "":
		return r.Name
	case *runners.Runner != "":
		return *runners.Runner
	}
	return portable[0]
}

// inProcess says whether pipelines run on a Prism in this process.
func (r Runner) inProcess() bool {
	return (r.name() == "prism" || r.name() == "PrismRunner") && *jobopts.Endpoint == ""
}

func (r Runner) shares() int {
	switch {
	case r.Shares > 0:
		return r.Shares
	case r.inProcess():
		return 1
	case *jobopts.Parallelism > 0:
		return *jobopts.Parallelism
	}
	return 16
}

func (r Runner) timeout() time.Duration {
	if r.Timeout > 0 {
		return r.Timeout
	}
	return 6 * time.Hour
}

func (r Runner) tries() int {
	if r.Tries > 0 {
		return r.Tries
	}
	return 2
}

// check refuses settings that no runner can honour.
func (r Runner) check() error {
	environment := strings.ToUpper(*jobopts.EnvironmentType)
	switch {
	case !beam.Initialized():
		return errors.New("beam: call Init first thing in main, after the flags are defined")
	case r.Shares < 0, r.Timeout < 0, r.Tries < 0:
		return fmt.Errorf("beam: Runner has %d shares, a timeout of %v and %d tries: want none below 0", r.Shares, r.Timeout, r.Tries)
	case *jobopts.Async:
		return errors.New("beam: --async: a job needs the results of the one before, so that each is waited for")
	case slices.Contains(dataflow, r.name()):
		return nil // which checks its own flags
	case !slices.Contains(portable, r.name()):
		return fmt.Errorf("beam: runner %q: want prism, flink, spark, universal or dataflow", r.name())
	case !r.inProcess() && *jobopts.Endpoint == "":
		return fmt.Errorf("beam: runner %s: --endpoint, the address of its job service, is missing", r.name())
	case !slices.Contains([]string{"", "LOOPBACK", "PROCESS", "EXTERNAL", "DOCKER"}, environment):
		return fmt.Errorf("beam: --environment_type %q: want LOOPBACK, PROCESS, EXTERNAL or DOCKER", *jobopts.EnvironmentType)
	case (environment == "PROCESS" || environment == "EXTERNAL") && *jobopts.EnvironmentConfig == "":
		return fmt.Errorf("beam: --environment_type %s wants --environment_config", environment)
	}
	return nil
}

// errDeadline is why a job that takes too long is cancelled.
var errDeadline = errors.New("the job has not ended within its time limit (see Runner.Timeout)")

// run builds a pipeline and runs it to its end.
func (r Runner) run(ctx context.Context, stage string, build func(sc beam.Scope)) (err error) {
	defer panicked("stage", &stage, &err) // as Beam does where a pipeline is not well formed
	ctx, cancel := context.WithTimeoutCause(ctx, r.timeout(), errDeadline)
	defer cancel()
	p, root := beam.NewPipelineWithRoot()
	build(root.Scope(stage))
	if slices.Contains(dataflow, r.name()) {
		err = runDataflow(ctx, p)
	} else {
		err = runPortable(ctx, r, stage, p)
	}
	if end, _ := ctx.Deadline(); err != nil && !time.Now().Before(end) {
		<-ctx.Done() // a call may notice before the timer of ctx does
	}
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// runDataflow runs a pipeline by Beam's own client, which cannot cancel a job: one that is
// given up goes on until it is cancelled by hand.
func runDataflow(ctx context.Context, p *beam.Pipeline) error {
	done := make(chan error, 1)
	go func() {
		_, err := beam.Run(ctx, "dataflow", p)
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Init begins a program that runs pipelines. It comes first in main, after the program's own
// flags are defined. It parses the flags, and does not return where a runner has started the
// program as a worker: with Beam's --worker, or with --provision_endpoint, which is how
// runners start the command of --environment_type PROCESS. The command is then the program
// itself, {"command": "/path/of/the/program"}, which needs no staging folder.
func Init() {
	if id, endpoint, ok := workerFlags(); ok {
		serveAsWorker(id, endpoint)
	}
	if !flag.Parsed() {
		flag.Parse()
	}
	beam.Init()
}
