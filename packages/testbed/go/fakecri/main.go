// Command fakecri answers a kubelet's container runtime calls without running anything.
//
// It serves the in-memory runtime that Kubernetes keeps for its own tests and adds the two things that a
// real kubelet misses in it: images with a size, without which no pod gets past pulling, and container log
// files, without which the kubelet has nothing to hand out on its logs endpoint.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"
	kubeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-client/pkg/fake"
)

// imageSize is reported for every image, in bytes; any value but zero will do.
const imageSize = 1 << 20

// runtime is the in-memory runtime with log files.
type runtime struct {
	*fake.RemoteRuntime

	mu   sync.Mutex
	logs map[string]string // log file by container ID
}

// CreateContainer remembers where the kubelet expects the log and writes one line there.
func (r *runtime) CreateContainer(ctx context.Context, req *kubeapi.CreateContainerRequest) (*kubeapi.CreateContainerResponse, error) {
	resp, err := r.RemoteRuntime.CreateContainer(ctx, req)
	if err != nil {
		return nil, err
	}

	file := filepath.Join(req.GetSandboxConfig().GetLogDirectory(), req.GetConfig().GetLogPath())
	if err := writeLog(file, req.GetConfig().GetMetadata().GetName()); err != nil {
		return nil, err
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	r.logs[resp.GetContainerId()] = file

	return resp, nil
}

// ContainerStatus adds the log file's path to what the in-memory runtime knows.
func (r *runtime) ContainerStatus(ctx context.Context, req *kubeapi.ContainerStatusRequest) (*kubeapi.ContainerStatusResponse, error) {
	resp, err := r.RemoteRuntime.ContainerStatus(ctx, req)
	if err != nil {
		return nil, err
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	if status := resp.GetStatus(); status != nil {
		status.LogPath = r.logs[req.GetContainerId()]
	}

	return resp, nil
}

// writeLog starts a log file in the format that container runtimes use.
func writeLog(file, container string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("container log directory: %w", err)
	}

	line := fmt.Sprintf("%s stdout F container %s started\n", time.Now().UTC().Format(time.RFC3339Nano), container)
	if err := os.WriteFile(file, []byte(line), 0o644); err != nil {
		return fmt.Errorf("container log: %w", err)
	}

	return nil
}

// newRuntime returns a runtime that calls itself ready.
func newRuntime() *runtime {
	r := &runtime{RemoteRuntime: fake.NewFakeRemoteRuntime(), logs: map[string]string{}}
	r.ImageService.SetFakeImageSize(imageSize)
	r.RuntimeService.FakeStatus = &kubeapi.RuntimeStatus{
		Conditions: []*kubeapi.RuntimeCondition{
			{Type: kubeapi.RuntimeReady, Status: true},
			{Type: kubeapi.NetworkReady, Status: true},
		},
	}

	return r
}

func run(socket string) error {
	if socket == "" {
		return fmt.Errorf("--socket PATH is required")
	}
	// A socket file that a killed predecessor left behind would make the bind fail.
	if err := os.Remove(socket); err != nil && !os.IsNotExist(err) {
		return err
	}

	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}

	server := grpc.NewServer()
	r := newRuntime()
	kubeapi.RegisterRuntimeServiceServer(server, r)
	kubeapi.RegisterImageServiceServer(server, r)

	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-stop
		server.Stop()
	}()

	return server.Serve(listener)
}

func main() {
	socket := flag.String("socket", "", "path of the unix socket to serve on")
	flag.Parse()

	if err := run(*socket); err != nil {
		fmt.Fprintln(os.Stderr, "fakecri:", err)
		os.Exit(1)
	}
}
