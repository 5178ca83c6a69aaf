/** How a PEM block is written; the default is what Go's `encoding/pem` writes. (RFC 7468 3) */
export interface PemForm {
  readonly label?: string;
  readonly endLabel?: string;
  /** Lines such as `Proc-Type: 4,ENCRYPTED`, followed by an empty line. */
  readonly headers?: readonly string[];
  readonly eol?: string;
  /** Characters of base64 a line; 64 by default. */
  readonly lineLength?: number;
  readonly before?: string;
  readonly after?: string;
  /** Takes the base64 text without line ends and returns the one that is written. */
  readonly rewriteBase64?: (base64: string) => string;
}

/** Text of one PEM block. */
export function pemText(der: Uint8Array, form: PemForm = {}): string {
  const { label = 'CERTIFICATE REQUEST', eol = '\n', lineLength = 64 } = form;
  const base64 = Buffer.from(der).toString('base64');
  const written = form.rewriteBase64?.(base64) ?? base64;
  const lines: string[] = [`-----BEGIN ${label}-----`];
  if (form.headers !== undefined) lines.push(...form.headers, '');
  for (let at = 0; at < written.length; at += lineLength) {
    lines.push(written.slice(at, at + lineLength));
  }
  lines.push(`-----END ${form.endLabel ?? label}-----`, '');
  return `${form.before ?? ''}${lines.join(eol)}${form.after ?? ''}`;
}
