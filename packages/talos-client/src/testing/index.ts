export {
  type CertificateAuthority,
  type CertificateRequestOptions,
  type IssuedCertificate,
  issueCertificate,
  type KeyAlgorithm,
  makeCertificateAuthority,
  type Subject,
} from './certificates.ts';
export { type FakeClusterCertificates, fakeClusterCertificates } from './fake-cluster.ts';
export {
  type FakeStatus,
  type FakeTalosNode,
  type FakeTalosNodeOptions,
  type OverriddenAnswer,
  type Override,
  type ReceivedCall,
  startFakeTalosNode,
} from './fake-talos-node.ts';
export {
  type InMemoryNode,
  type InMemoryTalos,
  type InMemoryTalosOptions,
  inMemoryTalos,
  type NodeFault,
} from './in-memory-talos.ts';
export { nodeResources, wireResource } from './node-resources.ts';
export { talosconfigText } from './talosconfig-text.ts';
