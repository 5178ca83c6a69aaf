package main

import (
	"context"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	cosi "github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/siderolabs/crypto/x509"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/role"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
)

func set[T any](value T) field[T] { return field[T]{present: true, value: &value} }

// testFleet is a control plane and a worker on free ports of two loopback addresses.
func testFleet(t *testing.T) *fleet {
	t.Helper()

	f, err := newFleet(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(f.close)

	for _, config := range []nodeConfig{
		{Name: "cp-1", Address: "127.0.0.11", Port: freePort(t, "127.0.0.11"), MachineType: "controlplane", nodeFields: nodeFields{
			NodeIPs: set([]string{"10.5.0.11"}), Nodename: set("cp-1"), Hostname: set("cp-1"),
			ExcludeSubnets: set([]string{"10.244.0.0/16", "10.96.0.0/12", "10.5.0.100"}),
		}},
		{Name: "worker-1", Address: "127.0.0.21", Port: freePort(t, "127.0.0.21"), MachineType: "worker", nodeFields: nodeFields{
			NodeIPs: set([]string{"10.5.0.21", "fd00::21"}), Nodename: set("my-node"), Hostname: set("MY_Node_"), Domainname: set("example.org"),
			ExternalAddresses: set([]string{"203.0.113.21"}),
			Platform:          set(platform{Platform: "stage", Hostname: "w1.cloud", InternalDNS: "w1.internal", ExternalDNS: "w1.example.com"}),
		}},
	} {
		if err := f.add(t.Context(), config); err != nil {
			t.Fatal(err)
		}
	}

	return f
}

func freePort(t *testing.T, address string) int {
	t.Helper()

	listener, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()

	return listener.Addr().(*net.TCPAddr).Port
}

// dial connects to a node with a client certificate.
func dial(t *testing.T, f *fleet, name string, pair *x509.KeyPair) *grpc.ClientConn {
	t.Helper()

	n, err := f.node(name)
	if err != nil {
		t.Fatal(err)
	}

	conn, err := grpc.NewClient("passthrough:///"+n.endpoint(), grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{
		ServerName: n.config.Address, RootCAs: f.pki.pool, Certificates: []tls.Certificate{*pair.Certificate},
	})))
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { conn.Close() })

	return conn
}

func within(t *testing.T, d time.Duration, pairs ...string) context.Context {
	t.Helper()

	ctx, cancel := context.WithTimeout(metadata.AppendToOutgoingContext(t.Context(), pairs...), d)
	t.Cleanup(cancel)

	return ctx
}

func expectStatus(t *testing.T, err error, code codes.Code, message string) {
	t.Helper()

	if status.Code(err) != code || (message != "" && !strings.Contains(status.Convert(err).Message(), message)) {
		t.Errorf("got %v, want %s with %q", err, code, message)
	}
}

var nodeIP = &cosi.GetRequest{Namespace: "k8s", Type: "NodeIPs.kubernetes.talos.dev", Id: "kubelet"}

func TestRoles(t *testing.T) {
	f := testFleet(t)
	kubeletSpec := &cosi.GetRequest{Namespace: "k8s", Type: "KubeletSpecs.kubernetes.talos.dev", Id: "kubelet"}
	unknownType := &cosi.GetRequest{Namespace: "k8s", Type: "Foos.kubernetes.talos.dev", Id: "x"}
	unknownNamespace := &cosi.GetRequest{Namespace: "nowhere", Type: nodeIP.GetType(), Id: "x"}
	missing := &cosi.GetRequest{Namespace: "k8s", Type: nodeIP.GetType(), Id: "nope"}

	for _, test := range []struct {
		pair    string
		request *cosi.GetRequest
		code    codes.Code
		message string
	}{
		{"reader", nodeIP, codes.OK, ""},
		{"operator", nodeIP, codes.OK, ""},
		{"admin", nodeIP, codes.OK, ""},
		{"etcd-backup", nodeIP, codes.PermissionDenied, "not authorized"},
		{"reader", kubeletSpec, codes.PermissionDenied, "not authorized"},
		{"operator", kubeletSpec, codes.PermissionDenied, "not authorized"},
		{"admin", kubeletSpec, codes.NotFound, ""},
		{"reader", unknownType, codes.PermissionDenied, `resource type "Foos.kubernetes.talos.dev" is not supported`},
		{"reader", unknownNamespace, codes.PermissionDenied, `namespace "nowhere" is not supported`},
		{"reader", missing, codes.NotFound, "resource NodeIPs.kubernetes.talos.dev(k8s/nope@undefined) doesn't exist"},
	} {
		t.Run(test.pair+" "+test.request.GetType()+" "+test.request.GetNamespace(), func(t *testing.T) {
			_, err := cosi.NewStateClient(dial(t, f, "worker-1", f.pairs[test.pair])).Get(within(t, 5*time.Second), test.request)
			expectStatus(t, err, test.code, test.message)
		})
	}

	for pair, message := range map[string]string{"admin": "write access is not allowed", "reader": "not authorized"} {
		_, err := cosi.NewStateClient(dial(t, f, "worker-1", f.pairs[pair])).Destroy(within(t, 5*time.Second),
			&cosi.DestroyRequest{Namespace: "k8s", Type: nodeIP.GetType(), Id: "kubelet"})
		expectStatus(t, err, codes.PermissionDenied, message)
	}

	for pair, code := range map[string]codes.Code{"reader": codes.OK, "etcd-backup": codes.PermissionDenied} {
		_, err := machine.NewMachineServiceClient(dial(t, f, "worker-1", f.pairs[pair])).Version(within(t, 5*time.Second), &emptypb.Empty{})
		expectStatus(t, err, code, "")
	}
}

func TestClientCertificatesThatAreRefused(t *testing.T) {
	f := testFleet(t)
	n, _ := f.node("worker-1")

	// The library's default is both usages; a certificate for clients only is what f.pairs holds.
	both, err := x509.NewKeyPair(f.pki.ca, x509.Organization(string(role.Reader)), x509.NotAfter(time.Now().Add(time.Hour)))
	if err != nil {
		t.Fatal(err)
	}

	for alert, pair := range map[string]*x509.KeyPair{
		"expired certificate": f.pairs["expired"], "unknown certificate authority": f.pairs["foreign"], "bad certificate": both,
	} {
		// Plain TLS that only reads: a client that writes may see a broken pipe before it sees the alert.
		conn, err := tls.Dial("tcp", n.endpoint(), &tls.Config{
			ServerName: n.config.Address, RootCAs: f.pki.pool, Certificates: []tls.Certificate{*pair.Certificate}, NextProtos: []string{"h2"},
		})
		if err != nil {
			t.Fatalf("TLS 1.3 tells a client only after its handshake, but this one failed: %v", err)
		}

		_, err = conn.Read(make([]byte, 1))
		if err == nil || !strings.Contains(err.Error(), alert) {
			t.Errorf("got %v, want alert %q", err, alert)
		}

		conn.Close()
	}

	_, err = tls.Dial("tcp", n.endpoint(), &tls.Config{
		ServerName: n.config.Address, RootCAs: f.pki.pool, Certificates: []tls.Certificate{*f.pairs["reader"].Certificate}, MaxVersion: tls.VersionTLS12,
	})
	if err == nil || !strings.Contains(err.Error(), "protocol version") {
		t.Errorf("TLS 1.2: got %v, want alert protocol version", err)
	}
}

func TestRolesOfMetadataCountForImpersonatorsOnly(t *testing.T) {
	f := testFleet(t)
	kubeletSpec := &cosi.GetRequest{Namespace: "k8s", Type: "KubeletSpecs.kubernetes.talos.dev", Id: "kubelet"}

	impersonator, err := client(f.pki.ca, time.Hour, role.Impersonator)
	if err != nil {
		t.Fatal(err)
	}

	_, err = cosi.NewStateClient(dial(t, f, "worker-1", f.pairs["reader"])).Get(within(t, 5*time.Second, rolesMetadata, "os:admin"), kubeletSpec)
	expectStatus(t, err, codes.PermissionDenied, "not authorized")

	_, err = cosi.NewStateClient(dial(t, f, "worker-1", impersonator)).Get(within(t, 5*time.Second, rolesMetadata, "os:admin"), kubeletSpec)
	expectStatus(t, err, codes.NotFound, "")

	_, err = cosi.NewStateClient(dial(t, f, "worker-1", impersonator)).Get(within(t, 5*time.Second), nodeIP)
	expectStatus(t, err, codes.PermissionDenied, "not authorized")
}

func TestRouting(t *testing.T) {
	f := testFleet(t)

	for _, test := range []struct {
		name, dialled string
		metadata      []string
		code          codes.Code
		message       string
	}{
		{"direct", "worker-1", nil, codes.OK, ""},
		{"control plane to worker", "cp-1", []string{"node", "127.0.0.21"}, codes.OK, ""},
		{"control plane to worker by host name", "cp-1", []string{"node", "MY_Node_"}, codes.OK, ""},
		{"control plane to itself", "cp-1", []string{"node", "127.0.0.11"}, codes.OK, ""},
		{"worker to itself by address", "worker-1", []string{"node", "10.5.0.21"}, codes.OK, ""},
		{"worker to itself by FQDN", "worker-1", []string{"node", "MY_Node_.example.org"}, codes.OK, ""},
		{"worker by its node name", "worker-1", []string{"node", "my-node"}, codes.PermissionDenied, "no request forwarding"},
		{"worker to another node", "worker-1", []string{"node", "127.0.0.11"}, codes.PermissionDenied, "no request forwarding"},
		{"several nodes", "cp-1", []string{"nodes", "127.0.0.21"}, codes.InvalidArgument, "one-2-many"},
		{"node twice", "cp-1", []string{"node", "127.0.0.21", "node", "127.0.0.11"}, codes.InvalidArgument, "single-valued"},
		{"node with port", "cp-1", []string{"node", "127.0.0.21:50000"}, codes.Internal, "invalid target"},
		{"empty node", "cp-1", []string{"node", ""}, codes.Internal, "invalid target"},
		{"nobody there", "cp-1", []string{"node", "127.0.0.99"}, codes.Unavailable, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := cosi.NewStateClient(dial(t, f, test.dialled, f.pairs["reader"])).Get(within(t, 5*time.Second, test.metadata...), nodeIP)
			expectStatus(t, err, test.code, test.message)
		})
	}

	t.Run("roles are forwarded", func(t *testing.T) {
		f.counters.reset()

		_, err := cosi.NewStateClient(dial(t, f, "cp-1", f.pairs["etcd-backup"])).Get(within(t, 5*time.Second, "node", "127.0.0.21"), nodeIP)
		expectStatus(t, err, codes.PermissionDenied, "not authorized")

		calls := f.counters.report("worker-1").Calls
		want := call{Node: "worker-1", Method: "/cosi.resource.State/Get", Type: nodeIP.GetType(), Roles: "os:etcd:backup", Via: "forwarded"}

		if len(calls) != 1 || calls[0].call != want || calls[0].Count != 1 {
			t.Errorf("counted %+v, want one %+v", calls, want)
		}
	})
}

// The bytes and texts are those that the encoders of Talos v1.14.1 produce for these facts.
func TestEncodings(t *testing.T) {
	f := testFleet(t)

	for _, test := range []struct {
		node, namespace, kind, id, owner string
		protoHex, yaml                   string
	}{
		{"worker-1", "k8s", "NodeIPs.kubernetes.talos.dev", "kubelet", "k8s.NodeIPController",
			"0a060a040a0500150a120a10fd000000000000000000000000000021", "addresses:\n    - 10.5.0.21\n    - fd00::21\n"},
		{"worker-1", "k8s", "Nodenames.kubernetes.talos.dev", "nodename", "k8s.NodenameController",
			"0a076d792d6e6f6465120131", "nodename: my-node\nhostnameVersion: \"1\"\nskipNodeRegistration: false\n"},
		{"worker-1", "network", "HostnameStatuses.net.talos.dev", "hostname", "network.HostnameSpecController",
			"0a084d595f4e6f64655f120b6578616d706c652e6f7267", "hostname: MY_Node_\ndomainname: example.org\n"},
		{"worker-1", "network", "AddressStatuses.net.talos.dev", "external/203.0.113.21/32", "network.PlatformConfigApplyController",
			"0a080a04cb00711510203a0865787465726e616c4002",
			"address: 203.0.113.21/32\nlinkIndex: 0\nlinkName: external\nfamily: inet4\nscope: global\nflags: \"\"\npriority: 0\n"},
		{"worker-1", "runtime", "PlatformMetadatas.talos.dev", "platformmetadata", "network.PlatformConfigApplyController",
			"0a057374616765120877312e636c6f75644a0b77312e696e7465726e616c520e77312e6578616d706c652e636f6d",
			"platform: stage\nhostname: w1.cloud\ninternalDNS: w1.internal\nexternalDNS: w1.example.com\n"},
		{"worker-1", "config", "MachineTypes.config.talos.dev", "machine-type", "config.MachineTypeController", "0803", "worker\n"},
		{"worker-1", "runtime", "Versions.runtime.talos.dev", "version", "runtime.VersionController",
			"120554616c6f730a0776312e31342e31", "name: Talos\nversion: v1.14.1\n"},
		{"cp-1", "k8s", "NodeIPConfigs.kubernetes.talos.dev", "kubelet", "k8s.NodeIPConfigController",
			"120d31302e3234342e302e302f3136120c31302e39362e302e302f3132120a31302e352e302e313030",
			"excludeSubnets:\n    - 10.244.0.0/16\n    - 10.96.0.0/12\n    - 10.5.0.100\n"},
	} {
		t.Run(test.kind, func(t *testing.T) {
			got, err := cosi.NewStateClient(dial(t, f, test.node, f.pairs["reader"])).Get(within(t, 5*time.Second),
				&cosi.GetRequest{Namespace: test.namespace, Type: test.kind, Id: test.id})
			if err != nil {
				t.Fatal(err)
			}

			spec, md := got.GetResource().GetSpec(), got.GetResource().GetMetadata()
			if hex.EncodeToString(spec.GetProtoSpec()) != test.protoHex {
				t.Errorf("proto_spec %x, want %s", spec.GetProtoSpec(), test.protoHex)
			}

			if spec.GetYamlSpec() != test.yaml {
				t.Errorf("yaml_spec %q, want %q", spec.GetYamlSpec(), test.yaml)
			}

			if md.GetOwner() != test.owner || md.GetPhase() != "running" || md.GetVersion() != "1" {
				t.Errorf("owner %s phase %s version %s, want %s running 1", md.GetOwner(), md.GetPhase(), md.GetVersion(), test.owner)
			}
		})
	}

	if _, err := cosi.NewStateClient(dial(t, f, "worker-1", f.pairs["reader"])).Get(within(t, 5*time.Second),
		&cosi.GetRequest{Namespace: "k8s", Type: "NodeIPConfigs.kubernetes.talos.dev", Id: "kubelet"}); status.Code(err) != codes.NotFound {
		t.Errorf("NodeIPConfig that was not configured: %v, want NOT_FOUND", err)
	}
}

func TestPatchWhileWatched(t *testing.T) {
	f := testFleet(t)

	n, err := f.node("worker-1")
	if err != nil {
		t.Fatal(err)
	}

	id := "kubelet"

	watch, err := cosi.NewStateClient(dial(t, f, "worker-1", f.pairs["reader"])).Watch(within(t, 10*time.Second),
		&cosi.WatchRequest{Namespace: "k8s", Type: nodeIP.GetType(), Id: &id, ApiVersion: 1})
	if err != nil {
		t.Fatal(err)
	}

	expect := func(want cosi.EventType, phase, version string) {
		t.Helper()

		message, err := watch.Recv()
		if err != nil {
			t.Fatal(err)
		}

		event := message.GetEvent()[0]
		if event.GetEventType() != want || event.GetResource().GetMetadata().GetPhase() != phase || event.GetResource().GetMetadata().GetVersion() != version {
			t.Fatalf("got %v, want %s %s version %s", event, want, phase, version)
		}
	}

	if first, err := watch.Recv(); err != nil || len(first.GetEvent()) != 0 {
		t.Fatalf("first message %v %v, want an empty one", first, err)
	}

	expect(cosi.EventType_CREATED, "running", "1")

	apply := func(fields nodeFields) {
		t.Helper()

		if err := n.patch(t.Context(), fields); err != nil {
			t.Fatal(err)
		}
	}

	apply(nodeFields{NodeIPs: set([]string{"10.5.0.21", "fd00::21"})}) // equal: no event
	apply(nodeFields{NodeIPs: set([]string{})})
	expect(cosi.EventType_UPDATED, "running", "2")
	apply(nodeFields{NodeIPs: field[[]string]{present: true, tearingDown: true}})
	expect(cosi.EventType_UPDATED, "tearingDown", "3")
	apply(nodeFields{NodeIPs: set([]string{"10.5.0.22"})})
	expect(cosi.EventType_DESTROYED, "tearingDown", "3")
	expect(cosi.EventType_CREATED, "running", "1")

	// A patch that cannot be carried out changes nothing: the next event is of the one after it.
	torn := field[[]string]{present: true, tearingDown: true}
	if err := n.patch(t.Context(), nodeFields{NodeIPs: set([]string{"10.5.0.23"}), ExcludeSubnets: torn}); err == nil || !strings.Contains(err.Error(), "nothing to tear down") {
		t.Errorf("tearing down a resource that does not exist: %v", err)
	}

	if err := n.patch(t.Context(), nodeFields{NodeIPs: set([]string{"10.5.0.23"}), VirtualAddresses: torn}); err == nil || !strings.Contains(err.Error(), "no phase of its own") {
		t.Errorf("tearing down a part of a resource: %v", err)
	}

	apply(nodeFields{NodeIPs: field[[]string]{present: true}})
	expect(cosi.EventType_DESTROYED, "running", "1")
}

func TestListIsOrderedAndFollowsPatches(t *testing.T) {
	f := testFleet(t)
	state := cosi.NewStateClient(dial(t, f, "worker-1", f.pairs["reader"]))

	list := func() (ids []string) {
		t.Helper()

		stream, err := state.List(within(t, 5*time.Second), &cosi.ListRequest{Namespace: "network", Type: "AddressStatuses.net.talos.dev"})
		if err != nil {
			t.Fatal(err)
		}

		for {
			message, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return ids
			}

			if err != nil {
				t.Fatal(err)
			}

			ids = append(ids, message.GetResource().GetMetadata().GetId()+" "+message.GetResource().GetMetadata().GetPhase())
		}
	}

	n, _ := f.node("worker-1")
	before := strings.Join(list(), ", ")

	if want := "eth0/10.5.0.21/24 running, eth0/fd00::21/64 running, external/203.0.113.21/32 running"; before != want {
		t.Errorf("listed %s, want %s", before, want)
	}

	for _, fields := range []nodeFields{
		{ExternalAddresses: set([]string{"203.0.113.22", "203.0.113.23"})},
		{ExternalAddresses: field[[]string]{present: true, tearingDown: true}},
		{NodeIPs: set([]string{})},
	} {
		if err := n.patch(t.Context(), fields); err != nil {
			t.Fatal(err)
		}
	}

	if got, want := strings.Join(list(), ", "), "external/203.0.113.22/32 tearingDown, external/203.0.113.23/32 tearingDown"; got != want {
		t.Errorf("listed %s, want %s", got, want)
	}
}

func TestCertificateModes(t *testing.T) {
	f := testFleet(t)
	n, _ := f.node("worker-1")
	direct, forwarded := cosi.NewStateClient(dial(t, f, "worker-1", f.pairs["reader"])), cosi.NewStateClient(dial(t, f, "cp-1", f.pairs["reader"]))

	for _, test := range []struct {
		mode    certificateMode
		code    codes.Code
		message string
	}{
		{certificateGood, codes.OK, ""},
		{certificateWrongName, codes.Unavailable, "certificate is valid for 192.0.2.1, not 127.0.0.21"},
		{certificateGood, codes.OK, ""},
		{certificateOtherCA, codes.Unavailable, "certificate signed by unknown authority"},
		{certificateExpired, codes.Unavailable, "certificate has expired"},
		{certificateGood, codes.OK, ""},
	} {
		if err := n.setCertificate(test.mode); err != nil {
			t.Fatal(err)
		}

		// A connection that is being cut and one that backs off both answer UNAVAILABLE for a moment.
		await := func(call func() error) {
			t.Helper()

			var err error

			for range 100 {
				if err = call(); status.Code(err) == test.code && strings.Contains(status.Convert(err).Message(), test.message) {
					return
				}

				time.Sleep(50 * time.Millisecond)
			}

			t.Errorf("%s: got %v, want %s with %q", test.mode, err, test.code, test.message)
		}

		await(func() error { _, err := direct.Get(within(t, 5*time.Second), nodeIP); return err })
		await(func() error {
			_, err := forwarded.Get(within(t, 5*time.Second, "node", "127.0.0.21"), nodeIP)

			return err
		})
	}

	if err := n.setCertificate("nonsense"); err == nil || n.status().Certificate != certificateGood {
		t.Errorf("an unknown mode gave %v and left %s", err, n.status().Certificate)
	}
}

func TestFrozenNode(t *testing.T) {
	f := testFleet(t)
	n, _ := f.node("worker-1")
	known := cosi.NewStateClient(dial(t, f, "worker-1", f.pairs["reader"]))

	if _, err := known.Get(within(t, 5*time.Second), nodeIP); err != nil {
		t.Fatal(err)
	}

	n.gate.close()

	for name, conn := range map[string]cosi.StateClient{
		"open connection": known, "new connection": cosi.NewStateClient(dial(t, f, "worker-1", f.pairs["reader"])),
	} {
		_, err := conn.Get(within(t, 200*time.Millisecond), nodeIP)
		if status.Code(err) != codes.DeadlineExceeded {
			t.Errorf("%s to a frozen node: %v, want DEADLINE_EXCEEDED", name, err)
		}
	}

	controlPlane := cosi.NewStateClient(dial(t, f, "cp-1", f.pairs["reader"]))

	_, err := controlPlane.Get(within(t, 200*time.Millisecond, "node", "127.0.0.21"), nodeIP)
	expectStatus(t, err, codes.DeadlineExceeded, "")

	_, err = controlPlane.Get(within(t, 5*time.Second), nodeIP)
	expectStatus(t, err, codes.OK, "")

	n.gate.open()

	_, err = known.Get(within(t, 5*time.Second), nodeIP)
	expectStatus(t, err, codes.OK, "")

	n.gate.close()

	stopped := make(chan struct{})
	go func() { n.stop(); close(stopped) }()

	select {
	case <-stopped:
	case <-time.After(10 * time.Second):
		t.Fatal("a frozen node does not stop")
	}
}

func TestFaults(t *testing.T) {
	f := testFleet(t)
	n, _ := f.node("worker-1")
	state := cosi.NewStateClient(dial(t, f, "worker-1", f.pairs["reader"]))
	hostname := &cosi.GetRequest{Namespace: "network", Type: "HostnameStatuses.net.talos.dev", Id: "hostname"}

	n.backend.faults.setFailure(nodeIP.GetType(), injectedFailure{code: codes.Internal, message: "broken", remaining: 1})

	_, err := state.Get(within(t, 5*time.Second), hostname)
	expectStatus(t, err, codes.OK, "")
	_, err = state.Get(within(t, 5*time.Second), nodeIP)
	expectStatus(t, err, codes.Internal, "broken")
	_, err = state.Get(within(t, 5*time.Second), nodeIP)
	expectStatus(t, err, codes.OK, "")

	n.backend.faults.setFailure("AddressStatuses.net.talos.dev", injectedFailure{code: codes.ResourceExhausted, message: "busy", remaining: -1})

	stream, err := state.List(within(t, 5*time.Second), &cosi.ListRequest{Namespace: "network", Type: "AddressStatuses.net.talos.dev"})
	if err == nil {
		_, err = stream.Recv()
	}

	expectStatus(t, err, codes.ResourceExhausted, "busy")

	n.backend.faults.setDelay(time.Minute)

	_, err = state.Get(within(t, 200*time.Millisecond), hostname)
	expectStatus(t, err, codes.DeadlineExceeded, "")
}

func TestStoppedNodeComesBack(t *testing.T) {
	f := testFleet(t)
	n, _ := f.node("worker-1")
	forwarded := cosi.NewStateClient(dial(t, f, "cp-1", f.pairs["reader"]))

	n.stop()

	_, err := forwarded.Get(within(t, 5*time.Second, "node", "127.0.0.21"), nodeIP)
	expectStatus(t, err, codes.Unavailable, "connection refused")

	if err := n.start(); err != nil {
		t.Fatal(err)
	}

	f.redial(n)

	_, err = forwarded.Get(within(t, 5*time.Second, "node", "127.0.0.21"), nodeIP)
	expectStatus(t, err, codes.OK, "")
}

func TestNodeThatOnlyControlPlanesReach(t *testing.T) {
	f := testFleet(t)
	hidden := nodeConfig{Name: "hidden", Address: "127.0.0.22", ListenAddress: "127.0.0.23", Port: freePort(t, "127.0.0.23"), MachineType: "worker"}
	hidden.Nodename = set("hidden")

	if err := f.add(t.Context(), hidden); err != nil {
		t.Fatal(err)
	}

	if conn, err := net.Dial("tcp", net.JoinHostPort(hidden.Address, strconv.Itoa(hidden.Port))); err == nil {
		conn.Close()
		t.Error("the node listens on its address")
	}

	nodename := &cosi.GetRequest{Namespace: "k8s", Type: "Nodenames.kubernetes.talos.dev", Id: "nodename"}

	got, err := cosi.NewStateClient(dial(t, f, "cp-1", f.pairs["reader"])).Get(within(t, 5*time.Second, "node", hidden.Address), nodename)
	if err != nil || !strings.HasPrefix(got.GetResource().GetSpec().GetYamlSpec(), "nodename: hidden\n") {
		t.Errorf("through the control plane: %v %v", got, err)
	}
}
