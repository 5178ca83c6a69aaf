import type { ParsedCsr, SanEntry } from './parsed-csr.ts';
import type { SecondView } from './second-parser.ts';

/**
 * Whether a second parser saw the request that was judged: the same subject, attributes,
 * extensions and names, each in the same order and with the same types and octets.
 */
export function sameRequest(csr: ParsedCsr, view: SecondView | undefined): boolean {
  return view !== undefined && spell(csr) === spell(view);
}

function spell({ subject, attributes, extensions, san }: SecondView): string {
  return JSON.stringify([
    subject.map((rdn) => rdn.map(({ type, valueType, value }) => [type, valueType, value])),
    attributes.map(({ type, values }) => [type, values]),
    extensions.map(({ type, critical }) => [type, critical]),
    san.map(spellEntry),
  ]);
}

function spellEntry(entry: SanEntry): readonly (string | number)[] {
  switch (entry.kind) {
    case 'dns':
      return ['dns', entry.name];
    case 'ip':
      return ['ip', ...entry.octets];
    case 'other':
      return ['other', entry.tag];
  }
}
