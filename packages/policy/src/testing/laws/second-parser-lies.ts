import fc from 'fast-check';
import type { SecondView } from '../../second-parser.ts';
import { honestRequests } from '../arbitraries/honest-requests.ts';
import { broken, type Decide, type DecisionLaw, law, shown } from './law.ts';

/** One way in which a second parser can see another request than the one that was judged. */
export interface SecondParserLie {
  /** What the lie is about, in words. */
  readonly name: string;
  /** What the lying parser reports instead of what it saw; undefined is "no request". */
  readonly tell: (seen: SecondView) => SecondView | undefined;
}

/**
 * Lies about each thing that both parsers must agree on: the subject, the attributes, the
 * extensions and the names. None of them may ever end in an approval.
 */
export const secondParserLies: readonly SecondParserLie[] = [
  { name: 'no request', tell: () => undefined },
  {
    name: 'a common name with another last octet',
    tell: (seen) => ({
      ...seen,
      subject: seen.subject.map((rdn) =>
        rdn.map((attribute) =>
          attribute.type === '2.5.4.3'
            ? { ...attribute, value: `${attribute.value.slice(0, -1)}\x00` }
            : attribute,
        ),
      ),
    }),
  },
  {
    name: 'a subject of another string type',
    tell: (seen) => ({
      ...seen,
      subject: seen.subject.map((rdn) =>
        rdn.map((attribute) => ({ ...attribute, valueType: 'IA5String' as const })),
      ),
    }),
  },
  {
    name: 'one RDN more',
    tell: (seen) => ({ ...seen, subject: [...seen.subject, ...seen.subject.slice(0, 1)] }),
  },
  { name: 'an empty subject', tell: (seen) => ({ ...seen, subject: [] }) },
  {
    name: 'an attribute more',
    tell: (seen) => ({
      ...seen,
      attributes: [...seen.attributes, { type: '1.2.840.113549.1.9.7', values: 1 }],
    }),
  },
  { name: 'no attribute', tell: (seen) => ({ ...seen, attributes: [] }) },
  {
    name: 'a second value of an attribute',
    tell: (seen) => ({
      ...seen,
      attributes: seen.attributes.map((attribute) => ({ ...attribute, values: 2 })),
    }),
  },
  {
    name: 'an extension more',
    tell: (seen) => ({
      ...seen,
      extensions: [...seen.extensions, { type: '2.5.29.19', critical: false }],
    }),
  },
  { name: 'no extension', tell: (seen) => ({ ...seen, extensions: [] }) },
  {
    name: 'an extension that is critical where it is not',
    tell: (seen) => ({
      ...seen,
      extensions: seen.extensions.map(({ type, critical }) => ({ type, critical: !critical })),
    }),
  },
  {
    name: 'a name more',
    tell: (seen) => ({
      ...seen,
      san: [...seen.san, { kind: 'dns', name: 'evil.example' }],
    }),
  },
  { name: 'a name less', tell: (seen) => ({ ...seen, san: seen.san.slice(1) }) },
  {
    name: 'other octets in every name',
    tell: (seen) => ({
      ...seen,
      san: seen.san.map((entry) => {
        if (entry.kind === 'dns') return { ...entry, name: `${entry.name.slice(0, -1)}\x00` };
        if (entry.kind === 'ip')
          return { ...entry, octets: entry.octets.map((octet) => octet ^ 1) };
        return entry;
      }),
    }),
  },
];

/** A decision function whose second parser tells this lie about what it saw. */
export type DecideWithLie = (tell: SecondParserLie['tell']) => Decide;

/** The law that what two parsers see differently is never approved, and never denied for it. */
export function secondParserLaw(decideWith: DecideWithLie): DecisionLaw {
  return law(
    'what the second parser sees differently is left pending',
    { weight: 5 },
    fc.tuple(honestRequests(), fc.constantFrom(...secondParserLies)),
    ([{ csr, reading, options }, lie]) => {
      const decision = decideWith(lie.tell)(csr, reading, options);
      const wanted = 'pending ParsersDisagree';
      if (shown(decision) !== wanted) broken(decision, `${wanted}, for ${lie.name}`);
    },
  );
}
