package beam

import (
	"context"
	"errors"
	"fmt"
	"os"
	goruntime "runtime"
	"strings"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/xlangx"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/extworker"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/runnerlib"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
)

// runPortable submits a pipeline to a job service and waits for the end of the job. It is
// what Beam's universal runner does, but that a job is cancelled when ctx is, that a Prism
// in this process is found without a flag, and that no file is left behind.
func runPortable(ctx context.Context, r Runner, stage string, p *beam.Pipeline) error {
	client, closeClient, err := jobService(ctx, r)
	if err != nil {
		return err
	}
	defer closeClient()

	var urn string
	config := jobopts.GetEnvironmentConfig
	loopback := jobopts.IsLoopback() || *jobopts.EnvironmentType == "" && r.inProcess()
	if !loopback {
		urn = jobopts.GetEnvironmentUrn(ctx)
	} else {
		workers, err := extworker.StartLoopback(ctx, 0)
		if err != nil {
			return err
		}
		defer workers.Stop(context.WithoutCancel(ctx))
		urn, config = graphx.URNEnvExternal, workers.EnvironmentConfig
	}
	binary, err := workerBinary(urn)
	if err != nil {
		return err
	}
	id, token, err := prepare(ctx, client, p, stage, urn, config, binary, loopback)
	if err != nil {
		return err
	}
	job, err := runnerlib.Submit(ctx, client, id, token)
	if err != nil {
		return err
	}
	if err = runnerlib.WaitForCompletion(ctx, client, job); err != nil {
		cancelJob(context.WithoutCancel(ctx), client, job)
		return jobFailed(err)
	}
	state, err := client.GetState(ctx, &jobpb.GetJobStateRequest{JobId: job})
	if err == nil && (state.State == jobpb.JobState_CANCELLED || state.State == jobpb.JobState_CANCELLING) {
		return errors.New("the job was cancelled, from outside or because a worker process ended")
	}
	return nil // without a state the missing result says it
}

// preparing is held while a pipeline is made ready, since Beam's options are global.
var preparing sync.Mutex

// prepare makes a pipeline known to a job service.
func prepare(ctx context.Context, client jobpb.JobServiceClient, p *beam.Pipeline, stage, urn string, config func(context.Context) string, binary string, loopback bool) (id, token string, err error) {
	preparing.Lock()
	defer preparing.Unlock()
	edges, _, err := p.Build()
	if err != nil {
		return "", "", err
	}
	xlangx.ResolveArtifacts(ctx, edges, nil)
	environment, err := graphx.CreateEnvironment(ctx, urn, config)
	if err != nil {
		return "", "", err
	}
	pipeline, err := graphx.Marshal(edges, &graphx.Options{
		Environment:           environment,
		PipelineResourceHints: jobopts.GetPipelineResourceHints(),
	})
	if err != nil {
		return "", "", err
	}
	if err := runnerlib.UpdateGoEnvironmentWorker(binary, pipeline); err != nil {
		return "", "", err
	}
	name := "jsmf"
	if *jobopts.JobName != "" {
		name = *jobopts.JobName
	}
	id, artifacts, token, err := runnerlib.Prepare(ctx, client, pipeline, &runnerlib.JobOptions{
		Name:         fmt.Sprintf("%s-%s-%s", name, strings.ReplaceAll(stage, " ", "-"), randomHex()),
		Experiments:  jobopts.GetExperiments(),
		RetainDocker: *jobopts.RetainDockerContainers,
		Parallelism:  *jobopts.Parallelism,
		Loopback:     loopback,
	})
	if err != nil {
		return "", "", err
	}
	token, err = runnerlib.Stage(ctx, id, artifacts, binary, token)
	return id, token, err
}

// cancelTime is how long a job that is cancelled is waited for.
const cancelTime = 20 * time.Second

// cancelJob cancels a job, if it has not ended, and waits until it has.
func cancelJob(ctx context.Context, client jobpb.JobServiceClient, job string) {
	ctx, cancel := context.WithTimeout(ctx, cancelTime)
	defer cancel()
	if _, err := client.Cancel(ctx, &jobpb.CancelJobRequest{JobId: job}); err != nil {
		return // the error that led here says more
	}
	states, err := client.GetStateStream(ctx, &jobpb.GetJobStateRequest{JobId: job})
	for err == nil { // until the stream ends, which it does with the job
		_, err = states.Recv()
	}
}

// workerBinary returns the program that is sent to the workers. It is an empty file where
// workers have theirs: runners take what is sent, but do not run it.
func workerBinary(urn string) (path string, err error) {
	switch {
	case urn != graphx.URNEnvDocker:
		return os.DevNull, nil
	case *jobopts.WorkerBinary != "":
		return *jobopts.WorkerBinary, nil
	case goruntime.GOOS != "linux":
		return "", errors.New("--worker_binary, this program built for the workers, is missing (GOOS=linux go build)")
	}
	return os.Executable()
}

// inProcess is the Prism of this process. It cannot be stopped, so that there is one.
var inProcess struct {
	sync.Mutex
	client jobpb.JobServiceClient
}

// jobService returns a client of the runner's job service.
func jobService(ctx context.Context, r Runner) (jobpb.JobServiceClient, func(), error) {
	if !r.inProcess() {
		conn, err := grpcx.Dial(ctx, *jobopts.Endpoint, time.Minute)
		if err != nil {
			return nil, nil, fmt.Errorf("--endpoint %s: %w", *jobopts.Endpoint, err)
		}
		return jobpb.NewJobServiceClient(conn), func() { conn.Close() }, nil
	}
	inProcess.Lock()
	defer inProcess.Unlock()
	if inProcess.client == nil {
		client, err := prism.CreateJobServer(ctx, prism.Options{})
		if err != nil {
			return nil, nil, fmt.Errorf("starting Prism: %w", err)
		}
		inProcess.client = client
	}
	return inProcess.client, func() {}, nil
}
