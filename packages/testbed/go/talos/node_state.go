package main

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/cosi-project/runtime/pkg/state/registry"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/nethelpers"
	"github.com/siderolabs/talos/pkg/machinery/resources/cluster"
	"github.com/siderolabs/talos/pkg/machinery/resources/config"
	"github.com/siderolabs/talos/pkg/machinery/resources/hardware"
	"github.com/siderolabs/talos/pkg/machinery/resources/k8s"
	"github.com/siderolabs/talos/pkg/machinery/resources/network"
	"github.com/siderolabs/talos/pkg/machinery/resources/runtime"
	"github.com/siderolabs/talos/pkg/machinery/resources/secrets"
	"github.com/siderolabs/talos/pkg/machinery/resources/v1alpha1"
)

// talosVersion is the version that nodes report: the one of the machinery module this program is built from.
const talosVersion = "v1.14.1"

// Owners are the controllers of Talos that write each resource; a resource keeps its owner for life.
const (
	ownerNodeIP         = "k8s.NodeIPController"
	ownerNodeIPConfig   = "k8s.NodeIPConfigController"
	ownerNodename       = "k8s.NodenameController"
	ownerHostname       = "network.HostnameSpecController"
	ownerAddressStatus  = "network.AddressStatusController"
	ownerNodeAddress    = "network.NodeAddressController"
	ownerPlatformConfig = "network.PlatformConfigApplyController"
	ownerMachineType    = "config.MachineTypeController"
	ownerVersion        = "runtime.VersionController"
)

// externalLink is the pseudo-link under which Talos reports the public addresses of cloud metadata.
const externalLink = "external"

// newState makes a node's resource state with Talos's namespaces and resource types registered, and the resources that
// never change.
func newState(ctx context.Context, machineType string) (state.State, error) {
	st := state.WrapCore(namespaced.NewState(inmem.Build))

	namespaces := registry.NewNamespaceRegistry(st)
	if err := namespaces.RegisterDefault(ctx); err != nil {
		return nil, err
	}

	for _, name := range []resource.Namespace{
		k8s.NamespaceName, k8s.ControlPlaneNamespaceName, network.NamespaceName, network.ConfigNamespaceName, config.NamespaceName,
		runtime.NamespaceName, cluster.NamespaceName, cluster.RawNamespaceName, secrets.NamespaceName, hardware.NamespaceName,
	} {
		if err := namespaces.Register(ctx, name, ""); err != nil {
			return nil, err
		}
	}

	types := registry.NewResourceRegistry(st)
	if err := types.RegisterDefault(ctx); err != nil {
		return nil, err
	}

	for _, definition := range []meta.ResourceWithRD{
		&k8s.NodeIP{}, &k8s.NodeIPConfig{}, &k8s.Nodename{}, &k8s.NodeStatus{}, &k8s.StaticPodStatus{},
		&k8s.KubeletStatus{}, &k8s.KubeletSpec{}, &k8s.KubeletConfig{},
		&network.HostnameStatus{}, &network.AddressStatus{}, &network.NodeAddress{},
		&runtime.PlatformMetadata{}, &runtime.Version{}, &runtime.Diagnostic{}, &v1alpha1.Service{},
		&config.MachineType{}, &config.MachineConfig{},
		&cluster.Identity{}, &cluster.Member{}, &cluster.Affiliate{},
		&secrets.KubernetesRoot{}, &secrets.CertSAN{}, &hardware.SystemInformation{},
	} {
		if err := types.Register(ctx, definition); err != nil {
			return nil, err
		}
	}

	kind, err := machine.ParseType(machineType)
	if err != nil {
		return nil, err
	}

	typeResource := config.NewMachineType()
	typeResource.SetMachineType(kind)

	if err := st.Create(ctx, typeResource, state.WithCreateOwner(ownerMachineType)); err != nil {
		return nil, err
	}

	return st, put(ctx, st, ownerVersion, runtime.NewVersion(), runtime.VersionSpec{Name: "Talos", Version: talosVersion})
}

// put makes a resource exist in phase running with this spec; an equal one keeps its version.
func put[T typed.DeepCopyable[T], E typed.Extension](ctx context.Context, st state.State, owner string, r *typed.Resource[T, E], spec T) error {
	current, err := st.Get(ctx, r.Metadata())
	if err != nil && !state.IsNotFoundError(err) {
		return err
	}

	if err == nil && current.Metadata().Phase() == resource.PhaseTearingDown {
		// COSI has no way back from tearing down: a resource that reappears is a new one.
		if err = st.Destroy(ctx, r.Metadata(), state.WithDestroyOwner(owner)); err != nil {
			return err
		}

		current = nil
	}

	if current == nil {
		*r.TypedSpec() = spec

		return st.Create(ctx, r, state.WithCreateOwner(owner))
	}

	_, err = st.UpdateWithConflicts(ctx, r.Metadata(), func(stored resource.Resource) error {
		same, ok := stored.(*typed.Resource[T, E])
		if !ok {
			return fmt.Errorf("%s holds a %T", r.Metadata(), stored)
		}

		*same.TypedSpec() = spec

		return nil
	}, state.WithUpdateOwner(owner))

	return err
}

// remove makes a resource not exist.
func remove(ctx context.Context, st state.State, owner string, pointer resource.Pointer) error {
	err := st.Destroy(ctx, pointer, state.WithDestroyOwner(owner))
	if state.IsNotFoundError(err) {
		return nil
	}

	return err
}

// putField lets a resource follow a field of the configuration: set, removed or torn down.
func putField[F any, T typed.DeepCopyable[T], E typed.Extension](
	ctx context.Context, st state.State, owner string, r *typed.Resource[T, E], f field[F], spec func(F) T,
) error {
	switch {
	case f.tearingDown:
		_, err := st.Teardown(ctx, r.Metadata(), state.WithTeardownOwner(owner))

		return err
	case f.value == nil:
		return remove(ctx, st, owner, r.Metadata())
	default:
		return put(ctx, st, owner, r, spec(*f.value))
	}
}

// applyFields makes the node's resources follow its facts.
func applyFields(ctx context.Context, st state.State, own netip.Addr, fields nodeFields) error {
	hostname := network.NewHostnameStatus(network.NamespaceName, network.HostnameID)
	if err := putField(ctx, st, ownerHostname, hostname, fields.Hostname, func(name string) network.HostnameStatusSpec {
		return network.HostnameStatusSpec{Hostname: name, Domainname: fields.Domainname.get()}
	}); err != nil {
		return fmt.Errorf("hostname: %w", err)
	}

	hostnameVersion := ""
	if current, err := st.Get(ctx, hostname.Metadata()); err == nil {
		hostnameVersion = current.Metadata().Version().String()
	}

	if err := putField(ctx, st, ownerNodename, k8s.NewNodename(k8s.NamespaceName, k8s.NodenameID), fields.Nodename, func(name string) k8s.NodenameSpec {
		return k8s.NodenameSpec{Nodename: name, HostnameVersion: hostnameVersion}
	}); err != nil {
		return fmt.Errorf("nodename: %w", err)
	}

	if err := putField(ctx, st, ownerNodeIP, k8s.NewNodeIP(k8s.NamespaceName, k8s.KubeletID), fields.NodeIPs, func(ips []string) k8s.NodeIPSpec {
		return k8s.NodeIPSpec{Addresses: addresses(ips)}
	}); err != nil {
		return fmt.Errorf("nodeIPs: %w", err)
	}

	if err := putField(ctx, st, ownerPlatformConfig, runtime.NewPlatformMetadataSpec(runtime.NamespaceName, runtime.PlatformMetadataID),
		fields.Platform, func(p platform) runtime.PlatformMetadataSpec {
			return runtime.PlatformMetadataSpec{Platform: p.Platform, Hostname: p.Hostname, InternalDNS: p.InternalDNS, ExternalDNS: p.ExternalDNS}
		}); err != nil {
		return fmt.Errorf("platform: %w", err)
	}

	exclude := fields.ExcludeSubnets
	if exclude.value == nil && fields.ValidSubnets.value != nil && !exclude.tearingDown {
		exclude.value = &[]string{}
	}

	if err := putField(ctx, st, ownerNodeIPConfig, k8s.NewNodeIPConfig(k8s.NamespaceName, k8s.KubeletID), exclude, func(subnets []string) k8s.NodeIPConfigSpec {
		return k8s.NodeIPConfigSpec{ExcludeSubnets: subnets, ValidSubnets: fields.ValidSubnets.get()}
	}); err != nil {
		return fmt.Errorf("excludeSubnets: %w", err)
	}

	if err := applyAddresses(ctx, st, fields); err != nil {
		return err
	}

	return applyNodeAddress(ctx, st, own, fields)
}

// applyAddresses keeps one AddressStatus per address: node addresses on link eth0, public ones on the pseudo-link.
func applyAddresses(ctx context.Context, st state.State, fields nodeFields) error {
	wanted := map[resource.ID]bool{}

	for _, text := range fields.NodeIPs.get() {
		address := netip.MustParseAddr(text)

		bits := 24
		if address.Is6() {
			bits = 64
		}

		if err := putAddress(ctx, st, ownerAddressStatus, "eth0", netip.PrefixFrom(address, bits), wanted); err != nil {
			return err
		}
	}

	for _, text := range fields.ExternalAddresses.get() {
		prefix, err := hostPrefix(text)
		if err != nil {
			return err
		}

		if fields.ExternalAddresses.tearingDown {
			wanted[network.AddressID(externalLink, prefix)] = true

			continue
		}

		if err := putAddress(ctx, st, ownerPlatformConfig, externalLink, prefix, wanted); err != nil {
			return err
		}
	}

	existing, err := st.List(ctx, resource.NewMetadata(network.NamespaceName, network.AddressStatusType, "", resource.VersionUndefined))
	if err != nil {
		return err
	}

	for _, item := range existing.Items {
		external := item.Metadata().Owner() == ownerPlatformConfig

		switch {
		case external && fields.ExternalAddresses.tearingDown:
			_, err = st.Teardown(ctx, item.Metadata(), state.WithTeardownOwner(ownerPlatformConfig))
		case !wanted[item.Metadata().ID()]:
			err = remove(ctx, st, item.Metadata().Owner(), item.Metadata())
		}

		if err != nil {
			return err
		}
	}

	return nil
}

func putAddress(ctx context.Context, st state.State, owner, link string, prefix netip.Prefix, wanted map[resource.ID]bool) error {
	family := nethelpers.FamilyInet4
	if prefix.Addr().Is6() {
		family = nethelpers.FamilyInet6
	}

	id := network.AddressID(link, prefix)
	wanted[id] = true

	return put(ctx, st, owner, network.NewAddressStatus(network.NamespaceName, id), network.AddressStatusSpec{
		Address: prefix, LinkName: link, Family: family, Scope: nethelpers.ScopeGlobal,
	})
}

// applyNodeAddress keeps NodeAddress `current`: every address of the node, shared virtual ones included.
func applyNodeAddress(ctx context.Context, st state.State, own netip.Addr, fields nodeFields) error {
	spec := network.NodeAddressSpec{SortAlgorithm: nethelpers.AddressSortAlgorithmV2}
	seen := map[netip.Addr]bool{}

	for _, address := range append(append([]netip.Addr{own}, addresses(fields.NodeIPs.get())...), addresses(fields.VirtualAddresses.get())...) {
		if !seen[address] {
			seen[address] = true
			spec.Addresses = append(spec.Addresses, netip.PrefixFrom(address, address.BitLen()))
		}
	}

	return put(ctx, st, ownerNodeAddress, network.NewNodeAddress(network.NamespaceName, network.NodeAddressCurrentID), spec)
}

// addresses parses what validate has accepted.
func addresses(texts []string) []netip.Addr {
	parsed := make([]netip.Addr, 0, len(texts))
	for _, text := range texts {
		parsed = append(parsed, netip.MustParseAddr(text))
	}

	return parsed
}
