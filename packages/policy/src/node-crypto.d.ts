/**
 * The part of `node:crypto` that verifies a signature. The package is compiled without Node's
 * types, so that nothing else of Node can slip in; the door declares what it passes through.
 */
declare module 'node:crypto' {
  interface KeyObject {
    readonly asymmetricKeyType?: string;
  }
  export function createPublicKey(key: { key: Uint8Array; format: 'der'; type: 'spki' }): KeyObject;
  export function verify(
    digest: string | null,
    data: Uint8Array,
    key: { key: KeyObject; dsaEncoding?: 'ieee-p1363' },
    signature: Uint8Array,
  ): boolean;
}
