package main

import (
	"context"
	"crypto/tls"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/role"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// Routing metadata of the Talos API.
const (
	nodeMetadata      = "node"      // one target
	nodesMetadata     = "nodes"     // several targets, deprecated
	proxyFromMetadata = "proxyfrom" // set on the second hop: already routed
)

// manyNodes are the services that Talos lets be asked about several nodes at once.
var manyNodes = []string{"/machine.MachineService/", "/cluster.ClusterService/", "/inspect.InspectService/", "/storage.StorageService/", "/time.TimeService/"}

// router decides where a call goes that reached a node (internal/app/apid of Talos): to its own backend, or, on control
// planes, over TLS to the node that the caller names.
type router struct {
	node *node
	// dialAddress finds where a target listens: a testbed has no resolver, and tests may use other ports.
	dialAddress func(target string) string
	// impersonator authenticates the second hop; nil on workers, which do not forward.
	impersonator *tls.Certificate

	mu    sync.Mutex
	conns map[string]*grpc.ClientConn
}

// route implements the director of the front.
func (r *router) route(ctx context.Context, method string) (*grpc.ClientConn, metadata.MD, error) {
	roles, err := callerRoles(ctx)
	if err != nil {
		return nil, nil, err
	}

	incoming, _ := metadata.FromIncomingContext(ctx)
	outgoing := metadata.MD{rolesMetadata: roles.Strings()}

	target, forward, err := r.target(incoming, method)
	if err != nil {
		return nil, nil, err
	}

	if !forward {
		outgoing.Set(viaMetadata, "direct")

		if len(incoming[proxyFromMetadata]) > 0 {
			outgoing.Set(viaMetadata, "forwarded")
		}

		return r.node.backend.conn, outgoing, nil
	}

	if target == "" || hasPort(target) {
		return nil, nil, status.Errorf(codes.Internal, "invalid target %q", target)
	}

	conn, err := r.hop(target)
	if err != nil {
		return nil, nil, status.Error(codes.Internal, err.Error())
	}

	outgoing.Set(proxyFromMetadata, r.node.endpoint())

	return conn, outgoing, nil
}

// target reads the routing metadata; forward is false where the call is for this node itself.
func (r *router) target(incoming metadata.MD, method string) (target string, forward bool, err error) {
	if len(incoming[proxyFromMetadata]) > 0 {
		return "", false, nil
	}

	one, many := incoming[nodeMetadata], incoming[nodesMetadata]
	if len(one) > 1 {
		return "", false, status.Error(codes.InvalidArgument, "node metadata must be single-valued")
	}

	if r.impersonator == nil {
		if len(one) == 1 && r.node.isLocal(one[0]) {
			one = nil
		}

		if len(many) == 1 && r.node.isLocal(many[0]) {
			many = nil
		}
	}

	switch {
	case len(many) > 0:
		if !hasAnyPrefix(method, manyNodes) {
			return "", false, status.Errorf(codes.InvalidArgument, "one-2-many proxying is not supported for method %s", method)
		}

		if r.impersonator == nil {
			return "", false, status.Error(codes.PermissionDenied, "no request forwarding")
		}

		return "", false, status.Error(codes.Unimplemented, "testbed: several targets in one call are not played, name one with node")
	case len(one) == 1:
		if r.impersonator == nil {
			return "", false, status.Error(codes.PermissionDenied, "no request forwarding")
		}

		return one[0], true, nil
	default:
		return "", false, nil
	}
}

// hop returns the connection to another node, which must prove that it is the target.
func (r *router) hop(target string) (*grpc.ClientConn, error) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if conn, ok := r.conns[target]; ok {
		return conn, nil
	}

	config := &tls.Config{
		MinVersion: tls.VersionTLS13, ServerName: target, RootCAs: r.node.pki.pool, Certificates: []tls.Certificate{*r.impersonator},
	}

	conn, err := grpc.NewClient("passthrough:///"+target,
		// Looked up at each dial, because a node can be added after the first one.
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", r.dialAddress(target))
		}),
		grpc.WithTransportCredentials(credentials.NewTLS(config)),
		// Far shorter than Talos's, for the same reason as redial.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 500 * time.Millisecond},
			MinConnectTimeout: 20 * time.Second,
		}))
	if err != nil {
		return nil, err
	}

	r.conns[target] = conn

	return conn, nil
}

// redial drops the connections to a node, so that the next call meets the node as it is now. Talos would back off for
// up to 15 s after a node was away; tests should not have to wait for that.
func (r *router) redial(endpoint string) {
	r.mu.Lock()
	defer r.mu.Unlock()

	for target, conn := range r.conns {
		if r.dialAddress(target) == endpoint {
			conn.Close() //nolint:errcheck // nothing to save
			delete(r.conns, target)
		}
	}
}

func (r *router) close() {
	r.mu.Lock()
	defer r.mu.Unlock()

	for _, conn := range r.conns {
		conn.Close() //nolint:errcheck // nothing to save
	}

	clear(r.conns)
}

// hasPort tells whether a target is a host with a port, which routing does not take.
func hasPort(target string) bool {
	_, port, err := net.SplitHostPort(target)
	if err != nil {
		return false
	}

	_, err = strconv.ParseUint(port, 10, 16)

	return err == nil
}

func hasAnyPrefix(text string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}

	return false
}

func joinRoles(roles role.Set) string { return strings.Join(roles.Strings(), ",") }
