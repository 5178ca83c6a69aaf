import { keyNotPermitted, signatureInvalid } from './key-rules.ts';
import {
  dnsNameNotOfNode,
  ipAddressNotOfNode,
  nameOfAnotherMachine,
  nameReserved,
} from './name-rules.ts';
import {
  lifetimeNotPermitted,
  requesterGroupMissing,
  requesterNotNode,
  requestMalformed,
  usagesNotPermitted,
} from './object-rules.ts';
import {
  attributeNotPermitted,
  dnsNameInvalid,
  extensionNotPermitted,
  sanMissing,
  sanTypeNotPermitted,
  subjectNotExact,
} from './request-rules.ts';
import type { Rule } from './rule.ts';

/** Every rule of the policy, in the order in which violations are reported. */
export const ruleTable: readonly Rule[] = [
  {
    code: 'RequestMalformed',
    question: 'Is the request one PEM block with one canonical PKCS #10 request in it?',
    step: 'structure',
    reads: 'object',
    judge: requestMalformed,
  },
  {
    code: 'SignatureInvalid',
    question: 'Is the request signed by its own key?',
    step: 'structure',
    reads: 'request',
    judge: signatureInvalid,
  },
  {
    code: 'KeyNotPermitted',
    question: 'Are the key and the digest of the signature strong enough?',
    step: 'structure',
    reads: 'request',
    judge: keyNotPermitted,
  },
  {
    code: 'RequesterNotNode',
    question: 'Is the authenticated requester the node?',
    step: 'structure',
    reads: 'object',
    judge: requesterNotNode,
  },
  {
    code: 'RequesterGroupMissing',
    question: 'Is the authenticated requester in the group system:nodes?',
    step: 'structure',
    reads: 'object',
    judge: requesterGroupMissing,
  },
  {
    code: 'SubjectNotExact',
    question: 'Is the subject exactly O=system:nodes and CN=system:node:<name>?',
    step: 'structure',
    reads: 'request',
    judge: subjectNotExact,
  },
  {
    code: 'UsagesNotPermitted',
    question: 'Are the usages one of the two sets that the signer permits?',
    step: 'structure',
    reads: 'object',
    judge: usagesNotPermitted,
  },
  {
    code: 'ExtensionNotPermitted',
    question: 'Is the SAN the only extension, and there once?',
    step: 'structure',
    reads: 'request',
    judge: extensionNotPermitted,
  },
  {
    code: 'AttributeNotPermitted',
    question: 'Is extensionRequest the only attribute, there once and with one value?',
    step: 'structure',
    reads: 'request',
    judge: attributeNotPermitted,
  },
  {
    code: 'LifetimeNotPermitted',
    question: 'Is the lifetime within what the API and the cluster permit?',
    step: 'structure',
    reads: 'object',
    judge: lifetimeNotPermitted,
  },
  {
    code: 'SanMissing',
    question: 'Does the request name anything?',
    step: 'structure',
    reads: 'request',
    judge: sanMissing,
  },
  {
    code: 'SanTypeNotPermitted',
    question: 'Is every name in the SAN a DNS name or an IP address?',
    step: 'structure',
    reads: 'request',
    judge: sanTypeNotPermitted,
  },
  {
    code: 'DnsNameInvalid',
    question: 'Is every DNS name made of LDH labels?',
    step: 'structure',
    reads: 'request',
    judge: dnsNameInvalid,
  },
  {
    code: 'DnsNameNotOfNode',
    question: 'Is every DNS name one of the node, if it is of no other machine and not reserved?',
    step: 'names',
    reads: 'identity',
    judge: dnsNameNotOfNode,
  },
  {
    code: 'IpAddressNotOfNode',
    question: 'Is every address one of the node, if it is of no other machine and not reserved?',
    step: 'names',
    reads: 'identity',
    judge: ipAddressNotOfNode,
  },
  {
    code: 'NameReserved',
    question: 'Is every name free of what the cluster reserves?',
    step: 'names',
    reads: 'identity',
    judge: nameReserved,
  },
  {
    code: 'NameOfAnotherMachine',
    question: 'Is every name free of what another machine holds?',
    step: 'names',
    reads: 'identity',
    judge: nameOfAnotherMachine,
  },
];
