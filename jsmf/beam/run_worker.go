package beam

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/harness"
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

// serveAsWorker is the whole life of a worker process. It ends when the runner does, so that
// none is left where a runner is killed.
func serveAsWorker(id, endpoint string) {
	err := serve(grpcx.WriteWorkerID(context.Background(), id), endpoint)
	if err != nil {
		fmt.Fprintf(os.Stderr, "worker %s: %v\n", id, err)
		os.Exit(1)
	}
	os.Exit(0)
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
