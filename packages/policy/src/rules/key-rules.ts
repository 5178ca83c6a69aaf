import { keyStandingOf } from './key-standing.ts';
import type { RequestInput, RuleFinding } from './rule.ts';

/** The request is signed by its own key, with the digest that it declares. */
export function signatureInvalid({ signature }: RequestInput): RuleFinding {
  return signature === 'invalid'
    ? ['the signature is not one of the key in the request over its content']
    : [];
}

/** Neither the key nor the digest of the signature is one that clients should not rely on. */
export function keyNotPermitted({ csr }: RequestInput): RuleFinding {
  return keyStandingOf(csr).refused.map((finding) => `the request has ${finding}`);
}
