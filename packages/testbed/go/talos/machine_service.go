package main

import (
	"context"
	goruntime "runtime"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/resources/network"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
)

// machineService answers the part of Talos's machine API that a reader uses; the rest is UNIMPLEMENTED.
type machineService struct {
	machine.UnimplementedMachineServiceServer

	state state.State
}

// Version implements machine.MachineServiceServer.
func (s *machineService) Version(context.Context, *emptypb.Empty) (*machine.VersionResponse, error) {
	return &machine.VersionResponse{Messages: []*machine.Version{{
		Version: &machine.VersionInfo{
			Tag: talosVersion, Sha: "testbed", GoVersion: goruntime.Version(), Os: goruntime.GOOS, Arch: goruntime.GOARCH,
		},
		Platform: &machine.PlatformInfo{Name: "testbed", Mode: "container"},
		Features: &machine.FeaturesInfo{Rbac: true},
	}}}, nil
}

// Hostname implements machine.MachineServiceServer.
func (s *machineService) Hostname(ctx context.Context, _ *emptypb.Empty) (*machine.HostnameResponse, error) {
	hostname, err := safe.StateGet[*network.HostnameStatus](ctx, s.state, resource.NewMetadata(
		network.NamespaceName, network.HostnameStatusType, network.HostnameID, resource.VersionUndefined))
	if err != nil {
		return nil, status.Errorf(codes.Internal, "hostname: %v", err)
	}

	return &machine.HostnameResponse{Messages: []*machine.Hostname{{Hostname: hostname.TypedSpec().Hostname}}}, nil
}
