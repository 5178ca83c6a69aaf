export {
  honestCases,
  honestParts,
  honestRequests,
} from './arbitraries/honest-requests.ts';
export {
  hostileBytes,
  hostileObjects,
  hostileRequests,
  mutated,
  resignedRequests,
} from './arbitraries/hostile-bytes.ts';
export { identities, strangers } from './arbitraries/identities.ts';
export {
  faultyCases,
  type NearMiss,
  type NearMissParts,
  nearMissCases,
  nearMisses,
  twoDenials,
} from './arbitraries/near-misses.ts';
export { hostileReadings, readings, readingsWithoutIdentity } from './arbitraries/readings.ts';
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
export { type Draw, drawFrom } from './draw.ts';
export type { Fault } from './faults/fault.ts';
export { faultTable } from './faults/fault-table.ts';
export { dnsEntry, type GeneralName, generalName, generalNames, ipEntry } from './general-name.ts';
export { ipOctets, ipv4Mapped } from './ip-octets.ts';
export { type KeyName, type PoolKey, poolKey } from './key-pool.ts';
export { decisionLaws } from './laws/decision-laws.ts';
export { hostileLaws } from './laws/hostile-laws.ts';
export {
  type Decide,
  type DecisionLaw,
  type LawReport,
  type LawRun,
  type LawSubject,
  law,
  reasonsOf,
  shown,
} from './laws/law.ts';
export {
  type DecideWithLie,
  type SecondParserLie,
  secondParserLaw,
  secondParserLies,
} from './laws/second-parser-lies.ts';
export { type PemForm, pemText } from './pem-writer.ts';
export {
  buildCase,
  type CaseParts,
  type ExpectedDecision,
  type RequestCase,
  withChanges,
  withIdentity,
  withSan,
} from './request-case.ts';
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
