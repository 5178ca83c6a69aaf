import type { ParsedCsr, SignedRequest } from './parsed-csr.ts';

/** Outcome of checking a proof of possession. `unusableKey`: the key could not be imported. */
export type SignatureVerdict = 'valid' | 'invalid' | 'unusableKey';

/** What a verifier needs: the bytes, and what they are. Key and algorithm are permitted and fit. */
export interface SignatureQuestion {
  readonly signed: SignedRequest;
  readonly csr: ParsedCsr;
}

/** Checks a proof of possession; never throws. */
export type SignatureVerifier = (question: SignatureQuestion) => SignatureVerdict;
