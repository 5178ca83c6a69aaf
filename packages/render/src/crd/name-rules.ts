import type { JsonSchema, ValidationRule } from './json-schema.ts';

// CEL raw strings, so that the expressions read here as the API server reads them. LDH labels are
// those of RFC 5890 section 2.3.1: 1 to 63 letters, digits and hyphens, no hyphen at either end.
const label = '[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const name = `${label}(\\.${label})*`;
// A name whose last label is a number is read as an IPv4 address by URL parsers and resolvers.
const number = '([0-9]+|0[xX][0-9A-Fa-f]*)';
const octet = '(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const ipv4 = `${octet}(\\.${octet}){3}`;
const bracketed = '\\[[0-9A-Fa-f]*:[0-9A-Fa-f:.]*\\]';
const port =
  '(:([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?';

const isHost = `(isIP(self) || (self.matches(r'^${name}$') && !self.matches(r'(^|\\.)${number}$')))`;

// The URL library of CEL would read better, but what it returns has no bound, so that the cost of
// looking at it has none either.
const isHostWithPort = (start: string, end: string): string =>
  [
    `self.matches(r'^${start}(${name}|${bracketed})${port}${end}$')`,
    `(!self.matches(r'^${start}(${label}\\.)*${number}${port}${end}$') || self.matches(r'^${start}${ipv4}${port}${end}$'))`,
    `(!self.startsWith('${start}[') || isIP(self.substring(${start.length + 1}, self.indexOf(']'))))`,
  ].join(' && ');

/** Accepts an IP address that a machine can have, or a host name. */
export const hostAddressRule: ValidationRule = {
  rule: `${isHost} && (!isIP(self) || ip(self).isGlobalUnicast())`,
  message:
    'must be an IP address or a DNS host name, without a port, and no loopback, link-local, multicast or unspecified address',
};

/** Accepts `host` and `host:port`; an IPv6 address with a port stands in brackets. */
export const endpointRule: ValidationRule = {
  rule: `isIP(self) || (${isHostWithPort('', '')})`,
  message:
    'must be an IP address or a DNS host name, with or without a port: 10.5.0.2 or 10.5.0.2:50000',
};

/** Accepts the URL of an API server: https, a host, perhaps a port, and nothing else. */
export const apiServerUrlRule: ValidationRule = {
  rule: isHostWithPort('https://', '/?'),
  message: 'must be an https URL with a host and without a path: https://10.5.0.100:6443',
};

/** Accepts what can be a node name, compared byte for byte with the kubelet's user name. */
export const nodeNameRule: ValidationRule = {
  rule: `${isHost} && !isIP(self) && self == self.lowerAscii() && self != 'localhost' && self != 'kubernetes' && !self.startsWith('kubernetes.')`,
  message:
    'must be a node name: lower-case letters, digits, hyphens and dots, no IP address, not localhost, kubernetes or kubernetes.*',
};

const dnsName: ValidationRule = {
  rule: `self.matches(r'^${name}\\.?$') && !self.matches(r'(^|\\.)${number}\\.?$')`,
  message: 'must be a DNS name of letters, digits, hyphens and dots; wildcards are not accepted',
};

const grantableName: ValidationRule = {
  rule: `!self.lowerAscii().matches(r'^(kubernetes(\\..*)?|(.*\\.)?localhost\\.?)$')`,
  message: 'localhost, kubernetes and kubernetes.* belong to no node',
};

const subnet: ValidationRule = {
  rule: 'isCIDR(self) && cidr(self).prefixLength() > 0 && cidr(self) == cidr(self).masked()',
  message:
    'must be a CIDR such as 10.5.0.0/16, with no bits set behind the prefix and a prefix longer than /0',
};

const setOf = (description: string, maxItems: number, items: JsonSchema): JsonSchema => ({
  type: 'array',
  description,
  default: [],
  maxItems,
  'x-kubernetes-list-type': 'set',
  items,
});

/** A set of DNS names, empty by default. `grantable` refuses the names that no node may have. */
export function dnsNameSet(description: string, kind: 'any' | 'grantable'): JsonSchema {
  return setOf(description, 64, {
    type: 'string',
    description: 'A DNS name; upper and lower case are equal, a final dot makes no difference.',
    minLength: 1,
    maxLength: 253,
    'x-kubernetes-validations': kind === 'any' ? [dnsName] : [dnsName, grantableName],
  });
}

/** A set of IP addresses, empty by default. */
export function ipAddressSet(description: string): JsonSchema {
  return setOf(description, 64, {
    type: 'string',
    description: 'An IPv4 or IPv6 address.',
    minLength: 1,
    maxLength: 45,
    'x-kubernetes-validations': [{ rule: 'isIP(self)', message: 'must be an IP address' }],
  });
}

/** A set of CIDRs, empty by default. */
export function subnetSet(description: string): JsonSchema {
  return setOf(description, 64, {
    type: 'string',
    description: 'A CIDR, such as 10.5.0.0/16.',
    minLength: 1,
    maxLength: 49,
    'x-kubernetes-validations': [subnet],
  });
}
