package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"sync"

	"github.com/siderolabs/crypto/x509"
	"github.com/siderolabs/talos/pkg/machinery/role"
	"google.golang.org/grpc"
)

var (
	errNodeUnknown = errors.New("no such node")
	errNodeExists  = errors.New("a node of this name or address exists")
)

// fleet is all nodes of the cluster, with its keys and counters.
type fleet struct {
	dir      string
	pki      *pki
	pairs    map[string]*x509.KeyPair
	counters *callCounters

	adding sync.Mutex // one node at a time

	mu    sync.RWMutex
	nodes []*node
}

func newFleet(dir string) (*fleet, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}

	// MkdirAll leaves a directory that exists as it is.
	if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // a directory needs the execute bit
		return nil, err
	}

	keys, err := newPKI()
	if err != nil {
		return nil, err
	}

	pairs, err := keys.clientPairs()
	if err != nil {
		return nil, err
	}

	return &fleet{dir: dir, pki: keys, pairs: pairs, counters: newCallCounters()}, keys.writeTalosconfigs(dir, []string{}, pairs)
}

// add makes a node and starts it. A control plane is an endpoint, so the talosconfigs are written anew for it.
func (f *fleet) add(ctx context.Context, config nodeConfig) error {
	if err := config.validate(); err != nil {
		return err
	}

	f.adding.Lock()
	defer f.adding.Unlock()

	for _, other := range f.all() {
		if other.config.Name == config.Name || other.address == netip.MustParseAddr(config.Address) {
			return fmt.Errorf("node %s: %w", config.Name, errNodeExists)
		}
	}

	n, err := newNode(ctx, config, f.pki, f.counters)
	if err != nil {
		return fmt.Errorf("node %s: %w", config.Name, err)
	}

	n.router = &router{node: n, dialAddress: f.dialAddress, conns: map[string]*grpc.ClientConn{}}

	if config.controlPlane() {
		if n.router.impersonator, err = f.impersonator(); err != nil {
			n.close()

			return fmt.Errorf("node %s: %w", config.Name, err)
		}
	}

	if err := n.start(); err != nil {
		n.close()

		return err
	}

	f.mu.Lock()
	f.nodes = append(f.nodes, n)
	f.mu.Unlock()

	if !config.controlPlane() {
		return nil
	}

	return f.pki.writeTalosconfigs(f.dir, f.endpoints(), f.pairs)
}

func (f *fleet) impersonator() (*tls.Certificate, error) {
	pair, err := client(f.pki.ca, serverValidity, role.Impersonator)
	if err != nil {
		return nil, err
	}

	return pair.Certificate, nil
}

func (f *fleet) all() []*node {
	f.mu.RLock()
	defer f.mu.RUnlock()

	return slices.Clone(f.nodes)
}

func (f *fleet) node(name string) (*node, error) {
	for _, n := range f.all() {
		if n.config.Name == name {
			return n, nil
		}
	}

	return nil, fmt.Errorf("%w: %q", errNodeUnknown, name)
}

// redial makes every control plane connect anew to a node that has changed.
func (f *fleet) redial(n *node) {
	for _, other := range f.all() {
		other.router.redial(n.endpoint())
	}
}

// endpoints are the control planes' addresses, with the port only where it is not Talos's.
func (f *fleet) endpoints() []string {
	endpoints := []string{}

	for _, n := range f.all() {
		if !n.config.controlPlane() {
			continue
		}

		if n.port() == defaultPort {
			endpoints = append(endpoints, n.config.Address)
		} else {
			endpoints = append(endpoints, net.JoinHostPort(n.config.Address, strconv.Itoa(n.port())))
		}
	}

	return endpoints
}

// dialAddress finds the listener of a routing target: a node's address or host name, else the target on Talos's port.
func (f *fleet) dialAddress(target string) string {
	address, err := netip.ParseAddr(target)

	for _, n := range f.all() {
		if n.address == address || err != nil && n.isLocal(target) {
			return n.endpoint()
		}
	}

	return net.JoinHostPort(target, strconv.Itoa(defaultPort))
}

func (f *fleet) close() {
	for _, n := range f.all() {
		n.close()
	}
}
