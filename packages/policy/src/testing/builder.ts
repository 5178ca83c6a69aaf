// The part of the testing entry that builds requests. It needs nothing but Node, so that a program
// can use it without the optional peer that the generators need.
export { baselineIdentity, baselineReading } from './baseline-identity.ts';
export {
  attributeElement,
  certificationRequest,
  certificationRequestInfo,
  type Extension,
  extensionElement,
  extensionRequest,
  type RequestAttribute,
  type RequestParts,
  requestOids,
  sanExtension,
  withTrailingBytes,
} from './certification-request.ts';
export {
  bitString,
  boolean,
  type Content,
  characterString,
  concatBytes,
  contextTag,
  element,
  integer,
  type LengthForm,
  nullValue,
  objectIdentifier,
  octetString,
  type StringType,
  sequence,
  setInGivenOrder,
  setOf,
  stringTags,
  textBytes,
} from './der-writer.ts';
export {
  commonName,
  distinguishedName,
  type NameAttribute,
  nameAttributeTypes,
  nodeSubject,
  organization,
  type Rdn,
} from './distinguished-name.ts';
export { dnsEntry, type GeneralName, generalName, generalNames, ipEntry } from './general-name.ts';
export { ipOctets, ipv4Mapped } from './ip-octets.ts';
export { type KeyName, type PoolKey, poolKey } from './key-pool.ts';
export { type PemForm, pemText } from './pem-writer.ts';
export {
  algorithmIdentifier,
  type SignatureAlgorithm,
  signBytes,
  usualAlgorithm,
} from './signature-algorithm.ts';
export {
  baselineNodeName,
  baselineSan,
  buildRequest,
  buildRequestDer,
  honestRequestFor,
  type RequestChanges,
  type SigningRequestObject,
} from './signing-request.ts';
