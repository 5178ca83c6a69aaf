package main

import (
	"context"
	"net"
	"sync"
	"time"

	cosi "github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/cosi-project/runtime/pkg/state"
	cosiserver "github.com/cosi-project/runtime/pkg/state/protobuf/server"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
)

// viaMetadata is the key by which the front tells its backend how a call arrived.
const viaMetadata = "testbed-via"

// injectedFailure is the status that a request gets instead of its answer.
type injectedFailure struct {
	code    codes.Code
	message string
	// remaining requests that fail; negative means all.
	remaining int
}

// faults are what a test has put in the way of a node's answers.
type faults struct {
	mu       sync.Mutex
	delay    time.Duration
	failures map[string]*injectedFailure // by resource type, full method name, or * for everything
}

func (f *faults) setDelay(delay time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.delay = delay
}

// setFailure puts a failure in the way of a target; code OK takes it away.
func (f *faults) setFailure(target string, failure injectedFailure) {
	f.mu.Lock()
	defer f.mu.Unlock()

	if failure.code == codes.OK {
		delete(f.failures, target)

		return
	}

	f.failures[target] = &failure
}

func (f *faults) currentDelay() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()

	return f.delay
}

// next returns the failure that this request gets, if any.
func (f *faults) next(method, resourceType string) error {
	f.mu.Lock()
	defer f.mu.Unlock()

	for _, target := range []string{resourceType, method, "*"} {
		failure, ok := f.failures[target]
		if !ok || target == "" || failure.remaining == 0 {
			continue
		}

		if failure.remaining > 0 {
			failure.remaining--
		}

		return status.Error(failure.code, failure.message)
	}

	return nil
}

// backend is the part of a node behind its front: the services, reached in process only, so that the roles it is told
// can be believed.
type backend struct {
	node     string
	counters *callCounters
	faults   *faults
	server   *grpc.Server
	conn     *grpc.ClientConn
}

func newBackend(node string, st state.State, counters *callCounters) (*backend, error) {
	b := &backend{node: node, counters: counters, faults: &faults{failures: map[string]*injectedFailure{}}}

	b.server = grpc.NewServer(
		grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(maxMessage),
		grpc.UnaryInterceptor(b.admitUnary), grpc.StreamInterceptor(b.admitStream))

	cosi.RegisterStateServer(b.server, cosiserver.NewState(state.Filter(st, resourceAccess(st))))
	machine.RegisterMachineServiceServer(b.server, &machineService{state: st})

	listener := bufconn.Listen(1 << 20)

	go b.server.Serve(listener) //nolint:errcheck // ends with Stop

	var err error

	b.conn, err = grpc.NewClient("passthrough:///"+node,
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		b.server.Stop()

		return nil, err
	}

	return b, nil
}

func (b *backend) close() {
	b.conn.Close() //nolint:errcheck // nothing to save
	b.server.Stop()
}

// admit counts a request, lets the faults act on it and checks the caller's roles.
func (b *backend) admit(ctx context.Context, method, resourceType string) error {
	roles, _ := metadataRoles(ctx)
	b.counters.add(call{Node: b.node, Method: method, Type: resourceType, Roles: joinRoles(roles), Via: firstMetadata(ctx, viaMetadata)})

	if delay := b.faults.currentDelay(); delay > 0 {
		timer := time.NewTimer(delay)
		defer timer.Stop()

		select {
		case <-timer.C:
		case <-ctx.Done():
			return status.FromContextError(ctx.Err()).Err()
		}
	}

	if err := authorizeMethod(method, roles); err != nil {
		return err
	}

	return b.faults.next(method, resourceType)
}

func (b *backend) admitUnary(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if err := b.admit(ctx, info.FullMethod, requestedType(request)); err != nil {
		return nil, err
	}

	return handler(ctx, request)
}

func (b *backend) admitStream(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	return handler(server, &admittedStream{ServerStream: stream, backend: b, method: info.FullMethod})
}

// admittedStream admits a streaming call once its request is there, because the request names the resource type.
type admittedStream struct {
	grpc.ServerStream
	backend  *backend
	method   string
	admitted bool
}

// RecvMsg implements grpc.ServerStream.
func (s *admittedStream) RecvMsg(message any) error {
	if err := s.ServerStream.RecvMsg(message); err != nil {
		return err
	}

	if s.admitted {
		return nil
	}

	s.admitted = true

	return s.backend.admit(s.Context(), s.method, requestedType(message))
}

// requestedType is the resource type that a COSI request names, else empty.
func requestedType(request any) string {
	if typed, ok := request.(interface{ GetType() string }); ok {
		return typed.GetType()
	}

	if writing, ok := request.(interface{ GetResource() *cosi.Resource }); ok {
		return writing.GetResource().GetMetadata().GetType()
	}

	return ""
}

func firstMetadata(ctx context.Context, key string) string {
	incoming, _ := metadata.FromIncomingContext(ctx)
	if values := incoming[key]; len(values) > 0 {
		return values[0]
	}

	return ""
}
