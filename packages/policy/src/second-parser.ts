import type { ParsedCsr } from './parsed-csr.ts';

/** What a second reader of the same bytes sees; compared entry by entry with what was judged. */
export type SecondView = Pick<ParsedCsr, 'subject' | 'attributes' | 'extensions' | 'san'>;

/** Reads a request in DER; undefined if it sees no request. */
export type SecondParser = (der: Uint8Array) => SecondView | undefined;
