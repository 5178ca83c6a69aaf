/**
 * Deny reasons in table order, each with the sentence that explains it. The names are a public
 * interface: they stand in conditions, Events, logs and metrics, and are never renamed.
 */
export const denyReasons = {
  RequestMalformed:
    'The request is not one PEM block with one canonical DER PKCS #10 request in it.',
  SignatureInvalid: 'The request is not signed by the key that it asks a certificate for.',
  KeyNotPermitted: 'The key or the signature algorithm is too weak.',
  RequesterNotNode: 'The authenticated requester is not the node that the request names.',
  RequesterGroupMissing: 'The authenticated requester is not in the group system:nodes.',
  SubjectNotExact: 'The subject is not exactly O=system:nodes and CN=system:node:<name>.',
  UsagesNotPermitted: 'The usages are not one of the two sets that the signer permits.',
  ExtensionNotPermitted: 'The request carries an extension other than one SAN.',
  AttributeNotPermitted: 'The request carries an attribute other than one extensionRequest.',
  LifetimeNotPermitted: 'The requested lifetime is outside what is permitted.',
  SanMissing: 'The request names nothing: it has no SAN, or an empty one.',
  SanTypeNotPermitted: 'The SAN holds something that is neither a DNS name nor an IP address.',
  DnsNameInvalid: 'A DNS name in the SAN is not made of LDH labels.',
  DnsNameNotOfNode: 'A DNS name in the SAN is not one of the node.',
  IpAddressNotOfNode: 'An IP address in the SAN is not one of the node.',
  NameReserved: 'A name in the SAN is reserved and belongs to no node.',
  NameOfAnotherMachine: 'A name in the SAN belongs to another machine.',
} as const;

/** Why a request is denied. */
export type DenyReason = keyof typeof denyReasons;

/** Pending reasons of a decision, each with the sentence that explains it. */
export const pendingReasons = {
  NotKubeletServing: 'The request is for another signer.',
  AlreadyDecided: 'The request is approved, denied, failed, issued or being deleted.',
  NodeNotManaged: 'No machine of an enabled cluster has this name.',
  RequestUnsupported: 'The request uses a key or signature algorithm that is not implemented.',
  NodeUnreadable: 'The identity of the node could not be read.',
  IdentityConflict: 'Two machines report the same name or address.',
  NameUnverified: "A name is nobody's, and the cluster leaves such requests to a person.",
  ParsersDisagree: 'Two independent parsers do not see the same request.',
} as const;

/** Why a request is left pending. */
export type PendingReason = keyof typeof pendingReasons;
