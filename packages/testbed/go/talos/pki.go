package main

import (
	"crypto/tls"
	stdx509 "crypto/x509"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/siderolabs/crypto/x509"
	clientconfig "github.com/siderolabs/talos/pkg/machinery/client/config"
	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"github.com/siderolabs/talos/pkg/machinery/role"
)

// contextName is the context of every talosconfig that is written, and the cluster's name.
const contextName = "testbed"

// certificateMode says what is wrong with a node's server certificate.
type certificateMode string

const (
	certificateGood      certificateMode = "good"
	certificateWrongName certificateMode = "wrongName" // right CA, another machine's names
	certificateOtherCA   certificateMode = "otherCA"   // right names, a CA nobody trusts
	certificateExpired   certificateMode = "expired"   // right CA and names, yesterday
)

// Validity of the certificates, as in Talos: a server certificate lives a day. The expired ones ended a day ago.
const (
	clientValidity = 365 * 24 * time.Hour
	serverValidity = 24 * time.Hour
	expiredSince   = 24 * time.Hour
)

// pki holds the Talos CA of the cluster and a second one that the cluster does not trust.
type pki struct {
	ca, foreign *x509.CertificateAuthority
	pool        *stdx509.CertPool
}

func newPKI() (*pki, error) {
	bundle, err := secrets.NewBundle(secrets.NewClock(), config.TalosVersionCurrent, secrets.WithECDSAServiceAccountKey())
	if err != nil {
		return nil, fmt.Errorf("Talos secrets: %w", err)
	}

	ca, err := x509.NewCertificateAuthorityFromCertificateAndKey(bundle.Certs.OS)
	if err != nil {
		return nil, fmt.Errorf("Talos CA: %w", err)
	}

	foreign, err := secrets.NewTalosCA(time.Now())
	if err != nil {
		return nil, fmt.Errorf("foreign Talos CA: %w", err)
	}

	pool := stdx509.NewCertPool()
	pool.AddCert(ca.Crt)

	return &pki{ca: ca, foreign: foreign, pool: pool}, nil
}

// serverNames are what a good certificate of a node is valid for.
type serverNames struct {
	commonName string
	dns        []string
	ips        []net.IP
}

// server makes a node's server certificate.
func (p *pki) server(names serverNames, mode certificateMode) (*tls.Certificate, error) {
	ca, notBefore, notAfter := p.ca, time.Now().Add(-time.Minute), time.Now().Add(serverValidity)

	switch mode {
	case certificateGood:
	case certificateWrongName:
		names = serverNames{commonName: "elsewhere", dns: []string{"elsewhere.invalid"}, ips: []net.IP{net.IPv4(192, 0, 2, 1)}}
	case certificateOtherCA:
		ca = p.foreign
	case certificateExpired:
		notBefore, notAfter = time.Now().Add(-expiredSince-serverValidity), time.Now().Add(-expiredSince)
	default:
		return nil, fmt.Errorf("certificate mode %q: must be good, wrongName, otherCA or expired", mode)
	}

	pair, err := x509.NewKeyPair(ca,
		x509.CommonName(names.commonName), x509.DNSNames(names.dns), x509.IPAddresses(names.ips),
		x509.NotBefore(notBefore), x509.NotAfter(notAfter),
		x509.KeyUsage(stdx509.KeyUsageDigitalSignature), x509.ExtKeyUsage([]stdx509.ExtKeyUsage{stdx509.ExtKeyUsageServerAuth}))
	if err != nil {
		return nil, err
	}

	return pair.Certificate, nil
}

// client makes a client certificate with these roles, valid until `ends` from now (negative: since then no more).
func client(ca *x509.CertificateAuthority, ends time.Duration, roles ...role.Role) (*x509.KeyPair, error) {
	return x509.NewKeyPair(ca,
		x509.Organization(role.MakeSet(roles...).Strings()...),
		x509.NotBefore(time.Now().Add(min(ends, 0)-time.Hour)), x509.NotAfter(time.Now().Add(ends)),
		x509.KeyUsage(stdx509.KeyUsageDigitalSignature), x509.ExtKeyUsage([]stdx509.ExtKeyUsage{stdx509.ExtKeyUsageClientAuth}))
}

// clientPairs are the credentials that are handed out, by the name of their talosconfig file.
func (p *pki) clientPairs() (map[string]*x509.KeyPair, error) {
	pairs := map[string]*x509.KeyPair{}

	for _, wanted := range []struct {
		name string
		ca   *x509.CertificateAuthority
		ends time.Duration
		role role.Role
	}{
		{"admin", p.ca, clientValidity, role.Admin},
		{"operator", p.ca, clientValidity, role.Operator},
		{"reader", p.ca, clientValidity, role.Reader},
		{"etcd-backup", p.ca, clientValidity, role.EtcdBackup},
		{"expired", p.ca, -expiredSince, role.Reader},
		{"foreign", p.foreign, clientValidity, role.Admin},
	} {
		pair, err := client(wanted.ca, wanted.ends, wanted.role)
		if err != nil {
			return nil, fmt.Errorf("client certificate %s: %w", wanted.name, err)
		}

		pairs[wanted.name] = pair
	}

	return pairs, nil
}

// writeTalosconfigs writes one file per credential into dir; each trusts the cluster's CA.
func (p *pki) writeTalosconfigs(dir string, endpoints []string, pairs map[string]*x509.KeyPair) error {
	for name, pair := range pairs {
		content, err := clientconfig.NewConfig(contextName, endpoints, p.ca.CrtPEM, x509.NewCertificateAndKeyFromKeyPair(pair)).Bytes()
		if err != nil {
			return fmt.Errorf("talosconfig %s: %w", name, err)
		}

		// Renamed into place, so that a reader never sees half of it.
		fresh := filepath.Join(dir, "."+name+".new")
		if err := os.WriteFile(fresh, content, 0o600); err != nil {
			return err
		}

		if err := os.Rename(fresh, filepath.Join(dir, name)); err != nil {
			return err
		}
	}

	return nil
}
