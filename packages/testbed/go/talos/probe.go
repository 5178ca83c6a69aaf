package main

import (
	_ "github.com/cosi-project/runtime/api/v1alpha1"
	_ "github.com/cosi-project/runtime/pkg/state/impl/inmem"
	_ "github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	_ "github.com/cosi-project/runtime/pkg/state/protobuf/server"
	_ "github.com/cosi-project/runtime/pkg/state/registry"
	_ "github.com/siderolabs/crypto/x509"
	_ "github.com/siderolabs/talos/pkg/machinery/api/machine"
	_ "github.com/siderolabs/talos/pkg/machinery/client/config"
	_ "github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	_ "github.com/siderolabs/talos/pkg/machinery/resources/k8s"
	_ "github.com/siderolabs/talos/pkg/machinery/resources/network"
	_ "github.com/siderolabs/talos/pkg/machinery/resources/runtime"
	_ "github.com/siderolabs/talos/pkg/machinery/resources/config"
	_ "github.com/siderolabs/talos/pkg/machinery/role"
	_ "google.golang.org/grpc"
)

func main() {}
