package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/talos/pkg/machinery/role"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// rolesMetadata is the gRPC metadata key by which one Talos component tells the next whose roles a call has.
const rolesMetadata = "talos-role"

const stateService = "/cosi.resource.State/"

var (
	errNotAuthorized = status.Error(codes.PermissionDenied, "not authorized")
	readers          = role.MakeSet(role.Admin, role.Operator, role.Reader)
	admins           = role.MakeSet(role.Admin)
)

// methodRoles lists who may call what; everything else is for administrators
// (internal/app/machined/pkg/system/services/machined.go of Talos).
var methodRoles = map[string]role.Set{
	stateService + "Get":                  readers,
	stateService + "List":                 readers,
	stateService + "Watch":                readers,
	"/machine.MachineService/Version":     readers,
	"/machine.MachineService/Hostname":    readers,
	"/machine.MachineService/ServiceList": readers,
}

// authorizeMethod returns PERMISSION_DENIED unless one of the roles may call the method.
func authorizeMethod(method string, roles role.Set) error {
	allowed, ok := methodRoles[method]
	if !ok {
		allowed = admins
	}

	if !roles.IncludesAny(allowed) {
		return errNotAuthorized
	}

	return nil
}

// callerRoles are the organizations of the client's leaf certificate; a client with os:impersonator may name others.
func callerRoles(ctx context.Context) (role.Set, error) {
	caller, ok := peer.FromContext(ctx)
	if !ok {
		return role.Zero, status.Error(codes.Unauthenticated, "no peer")
	}

	info, ok := caller.AuthInfo.(credentials.TLSInfo)
	if !ok || len(info.State.PeerCertificates) == 0 {
		return role.Zero, status.Error(codes.Unauthenticated, "no client certificate")
	}

	roles, _ := role.Parse(info.State.PeerCertificates[0].Subject.Organization)
	if roles.Includes(role.Impersonator) {
		if forwarded, ok := metadataRoles(ctx); ok {
			return forwarded, nil
		}
	}

	return roles, nil
}

// metadataRoles reads the roles that the caller's metadata states; the second result tells whether it states any.
func metadataRoles(ctx context.Context) (role.Set, bool) {
	incoming, ok := metadata.FromIncomingContext(ctx)
	if !ok || len(incoming[rolesMetadata]) == 0 {
		return role.Zero, false
	}

	roles, _ := role.Parse(incoming[rolesMetadata])

	return roles, true
}

// onlyClientAuth is the TLS check that Talos adds to the chain's verification: a certificate that is no CA must be for
// client authentication and nothing else, so that a server certificate cannot be used to call.
func onlyClientAuth(connection tls.ConnectionState) error {
	for _, certificate := range connection.PeerCertificates {
		if certificate.IsCA {
			continue
		}

		if len(certificate.ExtKeyUsage) != 1 || certificate.ExtKeyUsage[0] != x509.ExtKeyUsageClientAuth || len(certificate.UnknownExtKeyUsage) > 0 {
			return errors.New("client certificate: its extended key usage must be exactly client authentication")
		}
	}

	return nil
}

// resourceAccess is the rule for each access to a resource (internal/app/resources of Talos): only registered types and
// namespaces, read only, and sensitive types for administrators only.
func resourceAccess(registered state.State) state.FilteringRule {
	return func(ctx context.Context, access state.Access) error {
		definition, err := safe.StateGet[*meta.ResourceDefinition](ctx, registered, resource.NewMetadata(
			meta.NamespaceName, meta.ResourceDefinitionType, strings.ToLower(access.ResourceType), resource.VersionUndefined))
		if state.IsNotFoundError(err) {
			return status.Errorf(codes.PermissionDenied, "resource type %q is not supported", access.ResourceType)
		}

		if err != nil {
			return err
		}

		if !access.Verb.Readonly() {
			return status.Error(codes.PermissionDenied, "write access is not allowed")
		}

		roles, _ := metadataRoles(ctx)
		if definition.TypedSpec().Sensitivity == meta.Sensitive && !roles.Includes(role.Admin) {
			return errNotAuthorized
		}

		_, err = safe.StateGet[*meta.Namespace](ctx, registered, resource.NewMetadata(
			meta.NamespaceName, meta.NamespaceType, access.ResourceNamespace, resource.VersionUndefined))
		if state.IsNotFoundError(err) {
			return status.Errorf(codes.PermissionDenied, "namespace %q is not supported", access.ResourceNamespace)
		}

		return err
	}
}
