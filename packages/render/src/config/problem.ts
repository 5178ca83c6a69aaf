/** Why something cannot be rendered, or what to know about what was rendered. */
export interface Problem {
  /** The field, as a path from its document: `KubeletConfig.extraArgs.node-ip`, `.machine.kubelet`. */
  readonly path: string;
  /** One sentence that names the field and the way out. */
  readonly sentence: string;
}

/** The sentence about a field, which begins with its path. */
export function problemAt(path: string, rest: string): Problem {
  return { path, sentence: `${path} ${rest}` };
}

/** A value inside a sentence: short, on one line and quoted. */
export function quoted(value: unknown): string {
  const text = typeof value === 'bigint' ? String(value) : (JSON.stringify(value, plain) ?? 'null');
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

function plain(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
