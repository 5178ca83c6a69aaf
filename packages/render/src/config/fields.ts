/** A mapping of a YAML document. */
export type Mapping = { readonly [key: string]: unknown };

/** Whether a value is a mapping: neither a list nor a scalar. */
export function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The own value of a key; null, which Talos reads as absent, is undefined. */
export function fieldOf(mapping: Mapping, key: string): unknown {
  return Object.hasOwn(mapping, key) ? (mapping[key] ?? undefined) : undefined;
}

/** Whether two values of YAML documents say the same; the order of keys says nothing. */
export function isSameValue(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => isSameValue(item, b[index]));
  }
  if (isMapping(a) && isMapping(b)) {
    const keys = Object.keys(a);
    return (
      keys.length === Object.keys(b).length &&
      keys.every((key) => Object.hasOwn(b, key) && isSameValue(a[key], b[key]))
    );
  }
  return Object.is(a, b);
}
