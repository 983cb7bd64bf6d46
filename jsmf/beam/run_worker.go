package beam

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/harness"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
)

// workerFlags returns what a runner that starts a worker process tells it.
func workerFlags() (id, endpoint string, ok bool) {
	for _, arg := range os.Args[1:] {
		name, value, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		switch name {
		case "id":
			id = strings.Trim(value, "'") // Prism quotes it
		case "provision_endpoint":
			endpoint = value
		}
	}
	return id, endpoint, id != "" && endpoint != ""
}

// servingVar is set in the process of a worker that does the work.
const servingVar = "JSMF_BEAM_SERVING"

// serveAsWorker is the whole life of a worker process. It ends when the runner does, so that
// none is left where a runner is killed. The work is done by a process that this one starts:
// Prism does not always notice that a worker has ended, and would wait for it until the job's
// time limit. Then the job is cancelled from here.
func serveAsWorker(id, endpoint string) {
	ctx := grpcx.WriteWorkerID(context.Background(), id)
	if os.Getenv(servingVar) != "" {
		exit(id, serve(ctx, endpoint))
	}
	cmd := exec.Command(os.Args[0], os.Args[1:]...)
	cmd.Env = append(os.Environ(), servingVar+"=1")
	if os.Getenv("GOGC") == "" { // sums are large and hold no pointers: to collect often is cheap
		cmd.Env = append(cmd.Env, "GOGC=25")
	}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	err := cmd.Run()
	if err != nil {
		cancelOwnJob(ctx, endpoint)
	}
	exit(id, err)
}

func exit(id string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "worker %s: %v\n", id, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// cancelOwnJob cancels the job of this worker, where the runner is a Prism. Others have no job
// service there, and notice by themselves.
func cancelOwnJob(ctx context.Context, endpoint string) {
	info, err := tools.ProvisionInfo(ctx, endpoint)
	if err != nil {
		return // the runner has ended
	}
	conn, err := grpcx.Dial(ctx, endpoint, cancelTime)
	if err != nil {
		return
	}
	defer conn.Close()
	jobpb.NewJobServiceClient(conn).Cancel(ctx, &jobpb.CancelJobRequest{JobId: info.GetRetrievalToken()})
}

func serve(ctx context.Context, endpoint string) error {
	beam.Init()
	info, err := tools.ProvisionInfo(ctx, endpoint)
	if err != nil {
		return fmt.Errorf("provision service %s: %w", endpoint, err)
	}
	var options runtime.RawOptionsWrapper
	if err := tools.ProtoToOptions(info.GetPipelineOptions(), &options); err != nil {
		return fmt.Errorf("pipeline options: %w", err)
	}
	runtime.GlobalOptions.Import(options.Options)
	return harness.MainWithOptions(ctx, info.GetLoggingEndpoint().GetUrl(), info.GetControlEndpoint().GetUrl(), harness.Options{
		StatusEndpoint:     info.GetStatusEndpoint().GetUrl(),
		RunnerCapabilities: info.GetRunnerCapabilities(),
	})
}
