import { foldDnsName, isLdhName } from '../identity/dns-name.ts';
import { NODES_GROUP } from '../identity/node-user.ts';
import { utf8Octets } from '../octets.ts';
import type { RelativeDistinguishedName } from '../parsed-csr.ts';
import { quote } from '../quote.ts';
import { oid } from '../x509/oids.ts';
import type { RequestInput, RuleFinding } from './rule.ts';
import { exactText } from './subject-text.ts';

/** The subject is two single-valued RDNs, in either order: the organization and the node's user name. */
export function subjectNotExact({ csr, expectedUser }: RequestInput): RuleFinding {
  if (csr.subject.length !== 2) {
    return [`the subject has ${csr.subject.length} RDNs instead of two`];
  }
  if (csr.subject.some((rdn) => rdn.length !== 1)) {
    return ['an RDN of the subject does not have exactly one attribute'];
  }
  return [
    ...valueFinding(csr.subject, oid.organization, 'O', NODES_GROUP),
    ...valueFinding(csr.subject, oid.commonName, 'CN', expectedUser),
  ];
}

function valueFinding(
  subject: readonly RelativeDistinguishedName[],
  type: string,
  label: string,
  expected: string,
): RuleFinding {
  const attributes = subject.flat().filter((attribute) => attribute.type === type);
  const [attribute] = attributes;
  if (attribute === undefined || attributes.length !== 1) {
    return [`the subject does not have exactly one ${label}`];
  }
  if (exactText(attribute) === utf8Octets(expected)) return [];
  const found = `${attribute.valueType} ${quote(attribute.value)}`;
  return [`the ${label} of the subject is the ${found} instead of ${quote(expected)}`];
}

/** One extension is asked for, and it is the SAN. Having none is for `sanMissing` to say. */
export function extensionNotPermitted({ csr }: RequestInput): RuleFinding {
  const others = csr.extensions.filter(({ type }) => type !== oid.subjectAltName);
  const sans = csr.extensions.length - others.length;
  return [
    ...others.map(({ type }) => `the extension ${quote(type)} is asked for`),
    ...(sans > 1 ? [`${sans} SAN extensions are asked for`] : []),
  ];
}

/** Only extensionRequest, once and with one value. Having none is for `sanMissing` to say. */
export function attributeNotPermitted({ csr }: RequestInput): RuleFinding {
  const requests = csr.attributes.filter(({ type }) => type === oid.extensionRequest);
  const others = csr.attributes.filter(({ type }) => type !== oid.extensionRequest);
  return [
    ...others.map(({ type }) => `the request has the attribute ${quote(type)}`),
    ...(requests.length > 1 ? [`the request has ${requests.length} extensionRequests`] : []),
    ...requests
      .filter(({ values }) => values !== 1)
      .map(({ values }) => `an extensionRequest has ${values} values`),
  ];
}

/** The request names something. */
export function sanMissing({ csr }: RequestInput): RuleFinding {
  if (csr.san.length > 0) return [];
  const hasSan = csr.extensions.some(({ type }) => type === oid.subjectAltName);
  return [hasSan ? 'the SAN is empty' : 'the request has no SAN'];
}

/** Every entry of the SAN is a DNS name or an IP address. */
export function sanTypeNotPermitted({ csr }: RequestInput): RuleFinding {
  return csr.san.flatMap((entry) =>
    entry.kind === 'other' ? [`the SAN holds a name of the type ${quote(entry.tag)}`] : [],
  );
}

/** Every DNS name is made of LDH labels: no wildcard, no underscore, nothing beyond ASCII. */
export function dnsNameInvalid({ csr }: RequestInput): RuleFinding {
  return csr.san.flatMap((entry) =>
    entry.kind === 'dns' && !isLdhName(foldDnsName(entry.name))
      ? [`${quote(entry.name)} is not a DNS name of LDH labels`]
      : [],
  );
}
