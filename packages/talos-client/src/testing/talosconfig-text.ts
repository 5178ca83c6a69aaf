import type { TalosAccess } from '../talos-client.ts';

const base64 = (text: string) => Buffer.from(text, 'utf8').toString('base64');

/** Writes a talosconfig of one context as Talos does, with its label on the Ed25519 key. */
export function talosconfigText(access: TalosAccess, context = 'lab'): string {
  const key = access.key.replaceAll('PRIVATE KEY-----', 'ED25519 PRIVATE KEY-----');
  return [
    `context: ${context}`,
    'contexts:',
    `  ${context}:`,
    `    endpoints: ${JSON.stringify(access.endpoints)}`,
    `    ca: ${base64(access.ca)}`,
    `    crt: ${base64(access.crt)}`,
    `    key: ${base64(key)}`,
    '',
  ].join('\n');
}
