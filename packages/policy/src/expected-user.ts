import { nodeNameOf, nodeUserOf } from './identity/node-user.ts';
import { utf8Octets } from './octets.ts';
import type { RelativeDistinguishedName } from './parsed-csr.ts';
import { apparentText } from './rules/subject-text.ts';
import { oid } from './x509/oids.ts';

/** Whether one of the common names of a subject is a user name, in whatever string type. */
export function namesUser(
  subject: readonly RelativeDistinguishedName[],
  username: string,
): boolean {
  const octets = utf8Octets(username);
  return subject
    .flat()
    .some((attribute) => attribute.type === oid.commonName && apparentText(attribute) === octets);
}

/**
 * The user name that a request must come from and carry. Mostly that of the machine which the
 * reading is about: its own request, or one of somebody else who names it. Where a request of a
 * node has nothing to do with the machine, the reading is another's, and the node is measured
 * against its own user name; no reading can speak for it then.
 */
export function expectedUserOf(
  username: string,
  subject: readonly RelativeDistinguishedName[],
  machine: string,
): string {
  const machineUser = nodeUserOf(machine);
  if (username === machineUser || namesUser(subject, machineUser)) return machineUser;
  return nodeNameOf(username) === undefined ? machineUser : username;
}
