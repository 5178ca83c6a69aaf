import type { Octets } from './octets.ts';

/**
 * What a PKCS #10 request says (RFC 2986), as plain data: no bytes, no signature, nothing looked
 * up. Every list holds all that the request holds, in its order. A value can be written by hand.
 */
export interface ParsedCsr {
  /** The RDNs of the subject, each with all its attributes. */
  readonly subject: readonly RelativeDistinguishedName[];
  readonly key: PublicKey;
  readonly signatureAlgorithm: SignatureAlgorithm;
  /** All attributes, extensionRequest included. */
  readonly attributes: readonly CsrAttribute[];
  /** The extensions of all values of all extensionRequest attributes. */
  readonly extensions: readonly RequestedExtension[];
  /** The entries of all SAN extensions; empty if there is none. */
  readonly san: readonly SanEntry[];
}

/** One RDN: a set of attributes, mostly of one. */
export type RelativeDistinguishedName = readonly NameAttribute[];

/** One attribute of a subject (RFC 5280, section 4.1.2.4). */
export interface NameAttribute {
  /** OBJECT IDENTIFIER in dotted form, such as `2.5.4.3` for a common name. */
  readonly type: string;
  readonly valueType: NameValueType;
  /** The content octets of the value, undecoded. */
  readonly value: Octets;
}

/** ASN.1 type of a subject value; any type that is no string type is `other`, with its identifier octets in hex. */
export type NameValueType =
  | 'UTF8String'
  | 'PrintableString'
  | 'NumericString'
  | 'TeletexString'
  | 'IA5String'
  | 'VisibleString'
  | 'UniversalString'
  | 'BMPString'
  | `other ${string}`;

/** One attribute of a request: its type and how many values it holds. */
export interface CsrAttribute {
  readonly type: string;
  readonly values: number;
}

/** One extension that is asked for: its type, and whether it is marked critical. */
export interface RequestedExtension {
  readonly type: string;
  readonly critical: boolean;
}

/** One GeneralName of a SAN. */
export type SanEntry =
  | { readonly kind: 'dns'; readonly name: Octets }
  /** Four octets for IPv4, sixteen for IPv6, each 0 to 255. */
  | { readonly kind: 'ip'; readonly octets: readonly number[] }
  /** Anything else, by its tag: `[1]` for context class, `[UNIVERSAL 22]` and so on for the others. */
  | { readonly kind: 'other'; readonly tag: string };

/** A public key, as far as rules about keys need it. */
export type PublicKey =
  | { readonly kind: 'rsa'; readonly modulusBits: number; readonly exponent: bigint }
  | { readonly kind: 'ec'; readonly curve: string; readonly compressed?: boolean }
  | { readonly kind: 'ed25519' }
  | { readonly kind: 'dsa' }
  /** A key type that is not known here, by its OBJECT IDENTIFIER. */
  | { readonly kind: 'other'; readonly algorithm: string };

/** Digests that a signature algorithm may name. */
export type Digest = 'MD2' | 'MD5' | 'SHA-1' | 'SHA-224' | 'SHA-256' | 'SHA-384' | 'SHA-512';

/** A signature algorithm: `rsa` is PKCS #1 v1.5. */
export type SignatureAlgorithm =
  | { readonly kind: 'rsa' | 'ecdsa' | 'dsa'; readonly digest: Digest }
  | { readonly kind: 'ed25519' }
  /** An algorithm that is not known here, by its OBJECT IDENTIFIER. */
  | { readonly kind: 'other'; readonly algorithm: string };

/** The bytes that a proof of possession is checked on. */
export interface SignedRequest {
  /** DER of the CertificationRequestInfo, which is what was signed. */
  readonly info: Uint8Array;
  /** DER of the SubjectPublicKeyInfo. */
  readonly spki: Uint8Array;
  /** The signature value, without the octet that counts unused bits. */
  readonly signature: Uint8Array;
}

/** What became of the bytes of a request. */
export type CsrReading =
  | {
      readonly kind: 'parsed';
      readonly csr: ParsedCsr;
      readonly signed: SignedRequest;
      /** The whole request in DER. */
      readonly der: Uint8Array;
    }
  /** `problem` is a sentence that is safe to print. */
  | { readonly kind: 'malformed'; readonly problem: string };
