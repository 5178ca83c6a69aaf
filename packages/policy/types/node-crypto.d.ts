/**
 * The part of `node:crypto` that verifies a signature. The package is compiled without Node's
 * types, so that nothing else of Node can slip in; the door declares what it passes through. Stands
 * outside `src`, where tests, which do have Node's types, would see it instead of them.
 */
declare module 'node:crypto' {
  /** Throws if the PEM text holds no key that OpenSSL can import. */
  export function createPublicKey(pem: string): object;
  export function verify(
    digest: string | null,
    data: Uint8Array,
    pem: string,
    signature: Uint8Array,
  ): boolean;
}
