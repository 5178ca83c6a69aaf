import { stringify } from 'yaml';

/**
 * Objects as YAML, one document each, separated by `---`. The same objects always give the same
 * text: keys keep their order, nothing is folded and nothing becomes an alias. Texts that a YAML 1.1
 * reader would take for something else (`on`, `no`, `0x1`) are quoted.
 */
export function encodeYaml(objects: readonly object[]): string {
  return objects
    .map((object) =>
      stringify(object, { aliasDuplicateObjects: false, compat: 'yaml-1.1', lineWidth: 0 }),
    )
    .join('---\n');
}
