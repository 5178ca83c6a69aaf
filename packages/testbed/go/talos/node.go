package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/cosi-project/runtime/pkg/state"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// node is one machine: its resources, the services over them and the TLS front that the network reaches.
type node struct {
	config  nodeConfig
	address netip.Addr
	pki     *pki
	state   state.State
	backend *backend
	router  *router
	gate    gate
	// certificate is what the next handshake presents.
	certificate atomic.Pointer[tls.Certificate]
	onConnect   func()

	mu       sync.Mutex // guards what follows
	fields   nodeFields
	mode     certificateMode
	names    serverNames // grows only: Talos certifies every address that a node has had
	front    *grpc.Server
	listener *heldListener
}

// newNode makes a node that does not listen yet.
func newNode(ctx context.Context, config nodeConfig, keys *pki, counters *callCounters) (*node, error) {
	st, err := newState(ctx, config.MachineType)
	if err != nil {
		return nil, err
	}

	b, err := newBackend(config.Name, st, counters)
	if err != nil {
		return nil, err
	}

	n := &node{
		config: config, address: netip.MustParseAddr(config.Address), pki: keys, state: st, backend: b,
		mode: certificateGood, onConnect: func() { counters.connected(config.Name) },
	}

	if err := n.patch(ctx, config.nodeFields); err != nil {
		b.close()

		return nil, err
	}

	return n, nil
}

func (n *node) port() int {
	if n.config.Port == 0 {
		return defaultPort
	}

	return n.config.Port
}

// endpoint is where the node really listens.
func (n *node) endpoint() string {
	return net.JoinHostPort(cmp.Or(n.config.ListenAddress, n.config.Address), strconv.Itoa(n.port()))
}

// start makes the node listen; it is no error if it does already.
func (n *node) start() error {
	n.mu.Lock()
	defer n.mu.Unlock()

	if n.front != nil {
		return nil
	}

	inner, err := net.Listen("tcp", n.endpoint())
	if err != nil {
		return fmt.Errorf("node %s: cannot listen on %s (is the address on an interface, and the port free?): %w", n.config.Name, n.endpoint(), err)
	}

	n.listener = newHeldListener(inner, &n.gate, n.onConnect)
	n.front = grpc.NewServer(
		grpc.Creds(credentials.NewTLS(n.tlsConfig())),
		grpc.ForceServerCodecV2(rawCodec{}),
		grpc.UnknownServiceHandler(passOn(n.router.route)),
		grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(maxMessage))

	go n.front.Serve(n.listener) //nolint:errcheck // ends with Stop

	return nil
}

// stop makes the node unreachable, as a machine that is switched off.
func (n *node) stop() {
	n.mu.Lock()
	front, listener := n.front, n.listener
	n.front, n.listener = nil, nil
	n.mu.Unlock()

	if front == nil {
		return
	}

	// Held connections first: the server waits for its connections to end.
	listener.Close() //nolint:errcheck // the server closes it again
	front.Stop()
}

func (n *node) close() {
	n.stop()
	n.router.close()
	n.backend.close()
}

// patch lays fields over the node's facts; nothing is kept of a patch that fails.
func (n *node) patch(ctx context.Context, fields nodeFields) error {
	if err := fields.validate(); err != nil {
		return err
	}

	n.mu.Lock()
	defer n.mu.Unlock()

	merged := n.fields
	if err := merged.merge(fields); err != nil {
		return err
	}

	if err := applyFields(ctx, n.state, n.address, merged); err != nil {
		return err
	}

	n.fields = merged
	n.growNames()

	return n.certify()
}

// growNames adds the node's present names to those that its certificate covers.
func (n *node) growNames() {
	ips := []netip.Addr{n.address, netip.AddrFrom4([4]byte{127, 0, 0, 1})}
	ips = append(ips, addresses(n.fields.NodeIPs.get())...)

	for _, ip := range ips {
		if !slices.ContainsFunc(n.names.ips, func(known net.IP) bool { return known.Equal(ip.AsSlice()) }) {
			n.names.ips = append(n.names.ips, ip.AsSlice())
		}
	}

	names := hostNames(n.fields)
	if n.config.controlPlane() {
		// The names of the Service by which workloads reach the Talos API.
		names = append(names, "talos", "talos.default")
	}

	for _, name := range names {
		if !slices.Contains(n.names.dns, name) {
			n.names.dns = append(n.names.dns, name)
		}
	}

	n.names.commonName = n.config.Name
	if own := hostNames(n.fields); len(own) > 0 {
		n.names.commonName = own[len(own)-1]
	}
}

// hostNames are the host name and the fully qualified one, where they differ.
func hostNames(fields nodeFields) []string {
	if fields.Hostname.value == nil || *fields.Hostname.value == "" {
		return nil
	}

	names := []string{*fields.Hostname.value}
	if domain := fields.Domainname.get(); domain != "" {
		names = append(names, *fields.Hostname.value+"."+domain)
	}

	return names
}

// certify issues the certificate that the next handshake presents.
func (n *node) certify() error {
	certificate, err := n.pki.server(n.names, n.mode)
	if err != nil {
		return err
	}

	n.certificate.Store(certificate)

	return nil
}

// setCertificate changes the node's certificate and cuts its open connections, so that every client sees the new one.
func (n *node) setCertificate(mode certificateMode) error {
	n.mu.Lock()
	defer n.mu.Unlock()

	previous := n.mode
	n.mode = mode

	if err := n.certify(); err != nil {
		n.mode = previous

		return err
	}

	if n.listener != nil {
		n.listener.cut()
	}

	return nil
}

// isLocal tells whether a routing target is this node: one of its present addresses or its host name.
func (n *node) isLocal(target string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()

	if slices.Contains(hostNames(n.fields), target) {
		return true
	}

	address, err := netip.ParseAddr(target)
	if err != nil {
		return false
	}

	present := append(append([]netip.Addr{n.address}, addresses(n.fields.NodeIPs.get())...), addresses(n.fields.VirtualAddresses.get())...)

	return slices.Contains(present, address.Unmap())
}

// tlsConfig is apid's: TLS 1.3, client certificates of the cluster's CA only, no session tickets.
func (n *node) tlsConfig() *tls.Config {
	return &tls.Config{
		MinVersion:             tls.VersionTLS13,
		NextProtos:             []string{"h2"},
		ClientAuth:             tls.RequireAndVerifyClientCert,
		ClientCAs:              n.pki.pool,
		SessionTicketsDisabled: true,
		VerifyConnection:       onlyClientAuth,
		GetCertificate:         func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return n.certificate.Load(), nil },
	}
}

// nodeStatus is what the control API tells about a node.
type nodeStatus struct {
	nodeConfig
	Listening   bool            `json:"listening"`
	Frozen      bool            `json:"frozen"`
	Certificate certificateMode `json:"certificate"`
}

func (n *node) status() nodeStatus {
	n.mu.Lock()
	defer n.mu.Unlock()

	config := n.config
	config.Port = n.port()
	config.nodeFields = n.fields

	return nodeStatus{nodeConfig: config, Listening: n.front != nil, Frozen: n.gate.isClosed(), Certificate: n.mode}
}
