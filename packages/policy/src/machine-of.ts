import { recordOf, requesterOf } from './csr/check-signing-request.ts';
import { parseCsr } from './csr/parse-csr.ts';
import type { CertificateSigningRequest } from './csr/signing-request.ts';
import { nodeNameOf } from './identity/node-user.ts';
import { textOfUtf8 } from './octets.ts';
import { apparentText } from './rules/subject-text.ts';
import { oid } from './x509/oids.ts';

/**
 * Which managed machine a request is about. `own`: the authenticated requester is that machine.
 * `named`: somebody else, but a common name of the request is the machine's; such a request is
 * decided against that machine, and so denied.
 */
export type MachineOfRequest =
  | { readonly kind: 'own' | 'named'; readonly nodeName: string }
  | { readonly kind: 'none' };

/**
 * Finds the machine of a request: by the authenticated user name first, then by any common name.
 * `isManaged` says whether a machine of an enabled cluster has a node name. Signer and state of
 * the object are not looked at. Never throws, unless `isManaged` does.
 */
export function machineOf(
  csr: CertificateSigningRequest,
  isManaged: (nodeName: string) => boolean,
): MachineOfRequest {
  const spec = recordOf(recordOf(csr)['spec']);
  const own = nodeNameOf(requesterOf(spec).username);
  if (own !== undefined && isManaged(own)) return { kind: 'own', nodeName: own };
  const { request } = spec;
  const parsed = typeof request === 'string' ? parseCsr(request) : undefined;
  if (parsed?.kind !== 'parsed') return { kind: 'none' };
  for (const attribute of parsed.csr.subject.flat()) {
    if (attribute.type !== oid.commonName) continue;
    const named = nodeNameOf(textOfUtf8(apparentText(attribute)) ?? '');
    if (named !== undefined && isManaged(named)) return { kind: 'named', nodeName: named };
  }
  return { kind: 'none' };
}
