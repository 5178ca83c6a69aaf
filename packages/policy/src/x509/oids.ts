/** Object identifiers that rules ask for, in dotted form, with where each is defined. */
export const oid = {
  /** RFC 5280, appendix A.1. */
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  /** RFC 2985, section 5.4.2: the extensions that a request asks for. */
  extensionRequest: '1.2.840.113549.1.9.14',
  /** RFC 5280, section 4.2.1.6. */
  subjectAltName: '2.5.29.17',
  /** RFC 3279, section 2.3. */
  rsaEncryption: '1.2.840.113549.1.1.1',
  dsa: '1.2.840.10040.4.1',
  ecPublicKey: '1.2.840.10045.2.1',
  /** RFC 8410, section 3. */
  ed25519: '1.3.101.112',
} as const;

/** Names of the curves that rules know (RFC 5480, section 2.1.1.1; SEC 2). */
export const curveOfOid: ReadonlyMap<string, string> = new Map([
  ['1.2.840.10045.3.1.7', 'P-256'],
  ['1.3.132.0.34', 'P-384'],
  ['1.3.132.0.35', 'P-521'],
  ['1.2.840.10045.3.1.1', 'P-192'],
  ['1.3.132.0.33', 'P-224'],
  ['1.3.132.0.10', 'secp256k1'],
]);
