package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// defaultPort is the port of the Talos API.
const defaultPort = 50000

// phaseTearingDown is how the control API spells COSI's phase of a resource that is about to go.
const phaseTearingDown = "tearingDown"

// serveConfig is the document that `serve` reads.
type serveConfig struct {
	// Dir receives the talosconfig files and the control socket; created with mode 0700.
	Dir string `json:"dir"`
	// Nodes are the nodes to start with; more can be added over the control API.
	Nodes []nodeConfig `json:"nodes"`
}

// nodeConfig describes one node.
type nodeConfig struct {
	// Name addresses the node in the control API and appears nowhere in the Talos API.
	Name string `json:"name"`
	// Address is the node's IP address: it listens there, certifies it, and control planes route to it.
	Address string `json:"address"`
	// ListenAddress, where set, is listened on instead, and only control planes know: a node behind a firewall.
	ListenAddress string `json:"listenAddress,omitempty"`
	// Port to listen on; 0 means 50000, as in Talos.
	Port int `json:"port,omitempty"`
	// MachineType is `controlplane` or `worker`.
	MachineType string `json:"machineType"`
	nodeFields
}

// nodeFields are the facts that a node reports. A field that is absent or null is a resource that does not exist; in a
// patch, absent leaves the resource as it is.
type nodeFields struct {
	NodeIPs           field[[]string] `json:"nodeIPs,omitzero"`
	Nodename          field[string]   `json:"nodename,omitzero"`
	Hostname          field[string]   `json:"hostname,omitzero"`
	Domainname        field[string]   `json:"domainname,omitzero"`
	ExternalAddresses field[[]string] `json:"externalAddresses,omitzero"`
	Platform          field[platform] `json:"platform,omitzero"`
	ExcludeSubnets    field[[]string] `json:"excludeSubnets,omitzero"`
	ValidSubnets      field[[]string] `json:"validSubnets,omitzero"`
	// VirtualAddresses are shared addresses that the node holds: they appear in NodeAddress, never in NodeIP.
	VirtualAddresses field[[]string] `json:"virtualAddresses,omitzero"`
}

// platform is the part of PlatformMetadata that names a machine.
type platform struct {
	Platform    string `json:"platform,omitempty"`
	Hostname    string `json:"hostname,omitempty"`
	InternalDNS string `json:"internalDNS,omitempty"`
	ExternalDNS string `json:"externalDNS,omitempty"`
}

// field is a JSON value that can be left out, null, `{"phase":"tearingDown"}` or a T.
type field[T any] struct {
	present     bool
	tearingDown bool
	value       *T
}

// IsZero reports whether the field was left out (encoding/json's omitzero).
func (f field[T]) IsZero() bool { return !f.present }

// get returns the value, or the zero value where the resource does not exist.
func (f field[T]) get() T {
	if f.value == nil {
		return *new(T)
	}

	return *f.value
}

// MarshalJSON implements json.Marshaler.
func (f field[T]) MarshalJSON() ([]byte, error) {
	if f.tearingDown {
		return json.Marshal(map[string]string{"phase": phaseTearingDown})
	}

	return json.Marshal(f.value)
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *field[T]) UnmarshalJSON(data []byte) error {
	*f = field[T]{present: true}

	if bytes.Equal(bytes.TrimSpace(data), []byte("null")) {
		return nil
	}

	var transition struct {
		Phase string `json:"phase"`
	}

	if err := decodeStrictly(data, &transition); err == nil && transition.Phase != "" {
		if transition.Phase != phaseTearingDown {
			return fmt.Errorf("phase %q: only %q can be asked for", transition.Phase, phaseTearingDown)
		}

		f.tearingDown = true

		return nil
	}

	f.value = new(T)

	return decodeStrictly(data, f.value)
}

// merge lays a patch over the facts that a node reports.
func (fields *nodeFields) merge(patch nodeFields) error {
	return errors.Join(
		mergeField("nodeIPs", &fields.NodeIPs, patch.NodeIPs),
		mergeField("nodename", &fields.Nodename, patch.Nodename),
		mergeField("hostname", &fields.Hostname, patch.Hostname),
		mergeField("externalAddresses", &fields.ExternalAddresses, patch.ExternalAddresses),
		mergeField("platform", &fields.Platform, patch.Platform),
		mergeField("excludeSubnets", &fields.ExcludeSubnets, patch.ExcludeSubnets),
		mergePart("domainname", &fields.Domainname, patch.Domainname),
		mergePart("validSubnets", &fields.ValidSubnets, patch.ValidSubnets),
		mergePart("virtualAddresses", &fields.VirtualAddresses, patch.VirtualAddresses),
	)
}

// mergeField lays a patch over a field that is a resource.
func mergeField[T any](name string, current *field[T], patch field[T]) error {
	if !patch.present {
		return nil
	}

	if patch.tearingDown {
		if current.value == nil {
			return fmt.Errorf("%s: there is nothing to tear down", name)
		}

		// A resource keeps its spec while it is torn down.
		patch.value = current.value
	}

	*current = patch

	return nil
}

// mergePart lays a patch over a field that is only part of a resource.
func mergePart[T any](name string, current *field[T], patch field[T]) error {
	if patch.tearingDown {
		return fmt.Errorf("%s: is part of a resource and has no phase of its own", name)
	}

	return mergeField(name, current, patch)
}

// validate names the first field that cannot be served.
func (fields nodeFields) validate() error {
	for _, list := range []struct {
		name  string
		items []string
		parse func(string) error
	}{
		{"nodeIPs", fields.NodeIPs.get(), parsesAsAddress},
		{"virtualAddresses", fields.VirtualAddresses.get(), parsesAsAddress},
		{"externalAddresses", fields.ExternalAddresses.get(), func(s string) error { _, err := hostPrefix(s); return err }},
	} {
		for _, item := range list.items {
			if err := list.parse(item); err != nil {
				return fmt.Errorf("%s: %w", list.name, err)
			}
		}
	}

	return nil
}

func (config nodeConfig) validate() error {
	if config.Name == "" || strings.ContainsAny(config.Name, "/?#") {
		return fmt.Errorf("node name %q: must be set and free of / ? #", config.Name)
	}

	if err := parsesAsAddress(config.Address); err != nil {
		return fmt.Errorf("node %s: address: %w", config.Name, err)
	}

	if config.ListenAddress != "" {
		if err := parsesAsAddress(config.ListenAddress); err != nil {
			return fmt.Errorf("node %s: listenAddress: %w", config.Name, err)
		}
	}

	if config.Port < 0 || config.Port > 65535 {
		return fmt.Errorf("node %s: port %d is out of range", config.Name, config.Port)
	}

	if config.MachineType != "controlplane" && config.MachineType != "worker" {
		return fmt.Errorf("node %s: machineType %q: must be controlplane or worker", config.Name, config.MachineType)
	}

	if err := config.nodeFields.validate(); err != nil {
		return fmt.Errorf("node %s: %w", config.Name, err)
	}

	return nil
}

func (config nodeConfig) controlPlane() bool { return config.MachineType == "controlplane" }

func parsesAsAddress(text string) error {
	_, err := netip.ParseAddr(text)

	return err
}

// hostPrefix reads a CIDR, or a bare address as the prefix that holds only it.
func hostPrefix(text string) (netip.Prefix, error) {
	if strings.Contains(text, "/") {
		return netip.ParsePrefix(text)
	}

	address, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Prefix{}, err
	}

	return netip.PrefixFrom(address, address.BitLen()), nil
}

func decodeStrictly(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()

	return decoder.Decode(into)
}
