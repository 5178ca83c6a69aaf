import { denyReasons } from '@ichor/policy';
import type { Removal } from './changed-build.ts';

const assess = 'assess.js';
const object = 'csr/check-signing-request.js';
const identity = 'identity/prepare-identity.js';
const parser = 'csr/parse-csr.js';
const names = 'identity/classify-names.js';

const never = 'if (false)';

function step(name: string, file: string, find: string, replace = never): Removal {
  return { kind: 'step', name, edits: [{ file, find, replace }] };
}

/** Every row of the rule table. */
const rules: readonly Removal[] = Object.keys(denyReasons).map((code) => ({
  kind: 'rule',
  name: `rule ${code}`,
  code,
}));

/** Every step of the precedence that is no row of the table. */
const steps: readonly Removal[] = [
  step('step: another signer', object, 'if (signerName !== SIGNER_NAME)'),
  step('step: decided or being deleted', object, 'if (decided !== undefined)'),
  step('step: not managed', assess, "settled('NodeNotManaged'", "settled('NodeUnreadable'"),
  step(
    'step: the signature is checked',
    assess,
    "verdict === 'valid' && isAlgorithmOfKey(csr)",
    'true',
  ),
  step('step: what is not implemented waits', assess, 'if (unsupported.length > 0)'),
  step(
    'step: a node that was not read (fails open)',
    assess,
    "return pending('NodeUnreadable', reading.cause)",
    "return { decision: { kind: 'approve', node: reading.nodeName, evidence: [] }, because: '' }",
  ),
  step(
    "step: another machine's reading",
    assess,
    'if (requester.username !== nodeUserOf(reading.nodeName))',
  ),
  step('step: a reading without DNS names', identity, 'if (!dns.some(isReadFromNode))'),
  step('step: a reading without addresses', identity, 'if (!ip.some(isReadFromNode))'),
  step('step: identity conflict', assess, 'if (conflicts.length > 0)'),
  step(
    'step: unknown names are left pending',
    assess,
    "options.unknownNames === 'pending' && violations.every(isAboutUnknownName)",
    'false',
  ),
  step(
    'step: only unknown names are left pending',
    assess,
    ' && violations.every(isAboutUnknownName)',
    '',
  ),
  step(
    'step: the second parser',
    assess,
    'bytes !== undefined && !sameRequest(csr, secondParser(bytes.der))',
    'false',
  ),
];

/** Parts of a step or a rule that could be lost without the rest. */
const parts: readonly Removal[] = [
  step(
    'part: being deleted',
    object,
    'if (deletionTimestamp !== undefined && deletionTimestamp !== null)',
  ),
  step(
    'part: a certificate is present',
    object,
    "if (certificate !== undefined && certificate !== null && certificate !== '')",
  ),
  step('part: a deciding condition', object, 'if (decisions.includes(type))'),
  step(
    'part: at most 65,536 bytes of PEM',
    parser,
    'const longestRequest = 65_536',
    'const longestRequest = 65_536_000',
  ),
  step(
    'part: at most 256 SAN entries',
    parser,
    'const mostSanEntries = 256',
    'const mostSanEntries = 256_000',
  ),
  step('part: reserved names', names, 'if (isReservedName(identity.reserved, folded))'),
  step('part: reserved addresses', names, 'if (isReservedAddress(identity.reserved, address))'),
  step(
    'part: IPv4-mapped forms of what others hold',
    names,
    'identity.others.ip.get(unmapAddress(address))',
    'identity.others.ip.get(address)',
  ),
  step(
    'part: a mapped address is not the own one',
    names,
    'identity.ip.get(address)',
    'identity.ip.get(unmapAddress(address))',
  ),
  step(
    'part: a platform value of two machines',
    names,
    'return holders.byNode.length === 0 && holders.byPlatform.length === 0',
    'return holders.byNode.length === 0',
  ),
  step(
    'part: a subnet never beats another machine',
    names,
    "standing.kind === 'unknown' && ",
    "standing.kind !== 'own' && ",
  ),
  // The parser and OpenSSL both look; only together they are one proof that can be lost.
  {
    kind: 'step',
    name: 'part: the key is a point of its curve',
    edits: [
      {
        file: 'x509/public-key.js',
        find: 'if (!isPointOnCurve(curve, point))',
        replace: never,
      },
      {
        file: assess,
        find: "verdict === 'unusableKey' ? withoutRequest(open) : open",
        replace: 'open',
      },
    ],
  },
  step(
    'part: both parsers see one subject',
    'parsers-agree.js',
    'subject.map((rdn) => rdn.map(({ type, valueType, value }) => [type, valueType, value]))',
    '0',
  ),
  step(
    'part: both parsers see the attributes',
    'parsers-agree.js',
    'attributes.map(({ type, values }) => [type, values])',
    '0',
  ),
  step(
    'part: both parsers see the extensions',
    'parsers-agree.js',
    'extensions.map(({ type, critical }) => [type, critical])',
    '0',
  ),
  step('part: both parsers see the names', 'parsers-agree.js', 'san.map(spellEntry)', '0'),
];

/** Everything that is taken away, one at a time. */
export const removals: readonly Removal[] = [...rules, ...steps, ...parts];
