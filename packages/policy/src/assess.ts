import type { CheckedRequest } from './csr/check-signing-request.ts';
import { checkSigningRequest } from './csr/check-signing-request.ts';
import { parseCsr } from './csr/parse-csr.ts';
import type { Decision, Evidence, PolicyOptions, Violation } from './decision.ts';
import { expectedUserOf } from './expected-user.ts';
import { type ClassifiedName, classifyNames, findingOf } from './identity/classify-names.ts';
import { conflictsOf } from './identity/identity-conflict.ts';
import { type CheckedReading, checkReading } from './identity/node-reading.ts';
import { nodeUserOf } from './identity/node-user.ts';
import type { ParsedCsr, SignedRequest } from './parsed-csr.ts';
import { sameRequest } from './parsers-agree.ts';
import { joinSome, quote, quoteMachines } from './quote.ts';
import type { Requester, RequestTerms } from './requester.ts';
import { isAlgorithmOfKey, keyStandingOf } from './rules/key-standing.ts';
import type { DenyReason, PendingReason } from './rules/reasons.ts';
import type { ObjectInput, RequestInput, Rule, RuleFinding } from './rules/rule.ts';
import type { SecondParser } from './second-parser.ts';
import type { SignatureQuestion, SignatureVerdict } from './signature.ts';

/** A decision, and what each rule that was asked found. */
export interface Assessment {
  readonly decision: Decision;
  /** By rule: what it found (nothing, if it is kept), or why it was not asked. */
  readonly results: ReadonlyMap<Rule, RuleResult>;
}

/** What became of one rule. */
export type RuleResult =
  | { readonly kind: 'asked'; readonly finding: RuleFinding; readonly machines?: readonly string[] }
  | { readonly kind: 'notAsked'; readonly because: string };

/** A request that is open for a decision, read but not yet judged. */
export interface OpenRequest {
  readonly kind: 'open';
  readonly reading: Extract<CheckedReading, { nodeName: string }>;
  readonly requester: Requester;
  readonly terms: RequestTerms;
  readonly csr: ParsedCsr | undefined;
  /** Why there is no `csr`. */
  readonly problem: string | undefined;
  /** The bytes behind `csr`; absent where only parsed data is judged. */
  readonly bytes?: { readonly der: Uint8Array; readonly signed: SignedRequest };
}

/** A request that needs no judging: it is not ours, not open, or not of a machine that we know. */
export interface SettledRequest {
  readonly kind: 'settled';
  readonly decision: Decision;
}

/** Reads an object and a reading, whatever they hold, as far as no signature is needed. */
export function prepare(csr: unknown, nodeReading: unknown): OpenRequest | SettledRequest {
  const checked = checkSigningRequest(csr);
  if (checked.kind === 'notOurs') return settled('NotKubeletServing', checked.detail);
  if (checked.kind === 'decided') return settled('AlreadyDecided', checked.detail);
  return prepareOpen(checked, checkReading(nodeReading));
}

function prepareOpen(
  { request, requester, terms }: Extract<CheckedRequest, { kind: 'open' }>,
  reading: CheckedReading,
): OpenRequest | SettledRequest {
  const known = settleReading(reading);
  if (known.kind === 'settled') return known;
  const parsed = parseCsr(request);
  return parsed.kind === 'malformed'
    ? { kind: 'open', reading: known, requester, terms, csr: undefined, problem: parsed.problem }
    : {
        kind: 'open',
        reading: known,
        requester,
        terms,
        csr: parsed.csr,
        problem: undefined,
        bytes: { der: parsed.der, signed: parsed.signed },
      };
}

/** The reading, if it is about a machine; else what that means for every request. */
export function settleReading(
  reading: CheckedReading,
): Extract<CheckedReading, { nodeName: string }> | SettledRequest {
  switch (reading.kind) {
    case 'unmanaged':
      return settled('NodeNotManaged', 'No machine of an enabled cluster is what this is about.');
    case 'unusable':
      return settled('NodeUnreadable', 'The reading of the node is no reading of any machine.');
    default:
      return reading;
  }
}

const settled = (reason: PendingReason, detail: string): SettledRequest => ({
  kind: 'settled',
  decision: { kind: 'pending', reason, detail },
});

/** What a signature verifier has to be asked; undefined if its answer could not matter. */
export function signatureQuestionOf(open: OpenRequest): SignatureQuestion | undefined {
  const { csr, bytes } = open;
  if (csr === undefined || bytes === undefined) return undefined;
  return isSignatureJudged(csr) && isAlgorithmOfKey(csr)
    ? { csr, signed: bytes.signed }
    : undefined;
}

function isSignatureJudged(csr: ParsedCsr): boolean {
  const { refused, unsupported } = keyStandingOf(csr);
  return refused.length === 0 && unsupported.length === 0;
}

/** What judging needs beside the request: the table, the options and the second parser. */
export interface JudgingParts {
  readonly rules: readonly Rule[];
  readonly options: PolicyOptions;
  readonly secondParser: SecondParser;
}

/** Every rule of a settled request is unasked. */
export function assessSettled({ decision }: SettledRequest, rules: readonly Rule[]): Assessment {
  const because = decision.kind === 'pending' ? decision.detail : 'It is decided already.';
  return { decision, results: new Map(rules.map((rule) => [rule, { kind: 'notAsked', because }])) };
}

/**
 * Judges an open request, the first match of: a broken rule that needs no identity, something that
 * is not implemented, a node that was not read, an identity in conflict, a broken rule about names,
 * two parsers that disagree. `verdict` is the answer to `signatureQuestionOf`.
 */
export function assess(
  open: OpenRequest,
  verdict: SignatureVerdict | undefined,
  parts: JudgingParts,
): Assessment {
  const results = new Map<Rule, RuleResult>();
  const request = verdict === 'unusableKey' ? withoutRequest(open) : open;
  const structure = judgeStructure(request, verdict, parts, results);
  const [first, ...rest] = structure;
  const outcome: NamesOutcome =
    first === undefined
      ? judgeAgainstIdentity(request, parts, results)
      : {
          decision: { kind: 'deny', violations: [first, ...rest] },
          because: 'A rule that needs no identity is broken.',
        };
  for (const rule of parts.rules) {
    if (!results.has(rule)) results.set(rule, { kind: 'notAsked', because: outcome.because });
  }
  return { decision: outcome.decision, results };
}

/** A key that cannot be imported makes bytes that cannot be read. */
function withoutRequest(open: OpenRequest): OpenRequest {
  const problem =
    'The block in spec.request is not a canonical PKCS #10 request: its public key cannot be imported.';
  return { ...open, csr: undefined, problem };
}

interface NamesOutcome {
  readonly decision: Decision;
  /** Why rules that have no result yet were not asked. */
  readonly because: string;
}

function judgeStructure(
  { csr, problem, requester, terms, reading }: OpenRequest,
  verdict: SignatureVerdict | undefined,
  { rules, options }: JudgingParts,
  results: Map<Rule, RuleResult>,
): Violation[] {
  const expectedUser = expectedUserOf(requester.username, csr?.subject ?? [], reading.nodeName);
  const object: ObjectInput = { problem, requester, terms, options, expectedUser };
  const request = csr && { ...object, csr, signature: signatureStateOf(csr, verdict) };
  const violations: Violation[] = [];
  for (const rule of rules) {
    if (rule.step !== 'structure') continue;
    const result = askStructureRule(rule, object, request);
    results.set(rule, result);
    if (result.kind === 'asked' && result.finding.length > 0) {
      violations.push(violationOf(rule.code, result.finding));
    }
  }
  return violations;
}

function askStructureRule(
  rule: Extract<Rule, { step: 'structure' }>,
  object: ObjectInput,
  request: RequestInput | undefined,
): RuleResult {
  if (rule.reads === 'object') return { kind: 'asked', finding: rule.judge(object) };
  if (request === undefined) {
    return { kind: 'notAsked', because: 'There is no request that could be read.' };
  }
  if (rule.code === 'SignatureInvalid' && request.signature === 'notJudged') {
    return { kind: 'notAsked', because: 'The key or the algorithm is refused or not implemented.' };
  }
  return { kind: 'asked', finding: rule.judge(request) };
}

function signatureStateOf(
  csr: ParsedCsr,
  verdict: SignatureVerdict | undefined,
): RequestInput['signature'] {
  if (!isSignatureJudged(csr)) return 'notJudged';
  return verdict === 'valid' && isAlgorithmOfKey(csr) ? 'valid' : 'invalid';
}

function violationOf(code: DenyReason, finding: RuleFinding): Violation {
  const detail = joinSome(finding);
  return { code, detail: detail.charAt(0).toUpperCase() + detail.slice(1) + finalStop(detail) };
}

const finalStop = (sentence: string): string => (sentence.endsWith('.') ? '' : '.');

function pending(reason: PendingReason, detail: string): NamesOutcome {
  return { decision: { kind: 'pending', reason, detail }, because: detail };
}

function judgeAgainstIdentity(
  open: OpenRequest,
  parts: JudgingParts,
  results: Map<Rule, RuleResult>,
): NamesOutcome {
  const { csr, reading, requester } = open;
  if (csr === undefined) return pending('RequestUnsupported', 'The request cannot be read.');
  const { unsupported } = keyStandingOf(csr);
  if (unsupported.length > 0) {
    return pending('RequestUnsupported', `Not implemented: ${joinSome(unsupported)}.`);
  }
  if (reading.kind === 'unknown') return pending('NodeUnreadable', reading.cause);
  if (requester.username !== nodeUserOf(reading.nodeName)) {
    const whose = `The reading is that of ${quote(reading.nodeName)}`;
    return pending('NodeUnreadable', `${whose}, which this request is not about.`);
  }
  const prepared = reading.prepare();
  if ('cause' in prepared) return pending('NodeUnreadable', prepared.cause);
  const conflicts = conflictsOf(prepared.identity);
  if (conflicts.length > 0) {
    const machines = [...new Set(conflicts.flatMap((conflict) => conflict.machines))];
    const named = conflicts.map(
      (conflict) => `${quote(conflict.value)} with ${quoteMachines(conflict.machines)}`,
    );
    const detail = `The node shares its own ${joinSome(named)}.`;
    return {
      decision: { kind: 'pending', reason: 'IdentityConflict', detail, machines },
      because: detail,
    };
  }
  const names = classifyNames(prepared.identity, csr.san);
  return judgeNames(open, names, parts, results) ?? approve(open, csr, names, parts);
}

function judgeNames(
  { reading }: OpenRequest,
  names: readonly ClassifiedName[],
  { rules, options }: JudgingParts,
  results: Map<Rule, RuleResult>,
): NamesOutcome | undefined {
  const foreignNames = names.flatMap((name) => findingOf(name) ?? []);
  const violations: Violation[] = [];
  for (const rule of rules) {
    if (rule.step !== 'names') continue;
    const finding = rule.judge({ foreignNames });
    const machines = [
      ...new Set(foreignNames.flatMap((name) => (name.code === rule.code ? name.machines : []))),
    ];
    results.set(rule, { kind: 'asked', finding });
    if (finding.length === 0) continue;
    const violation = violationOf(rule.code, finding);
    violations.push(machines.length > 0 ? { ...violation, machines } : violation);
  }
  const [first, ...rest] = violations;
  if (first === undefined) return undefined;
  if (options.unknownNames === 'pending' && violations.every(isAboutUnknownName)) {
    const detail = `Names that nobody holds: ${violations.map((violation) => violation.detail).join(' ')}`;
    return {
      decision: { kind: 'pending', reason: 'NameUnverified', detail, violations },
      because: `Unknown names of ${reading.nodeName} are left pending.`,
    };
  }
  return { decision: { kind: 'deny', violations: [first, ...rest] }, because: 'It is denied.' };
}

const isAboutUnknownName = ({ code }: Violation): boolean =>
  code === 'DnsNameNotOfNode' || code === 'IpAddressNotOfNode';

/** The second parser is asked last, because it costs more than everything before it. */
function approve(
  { reading, bytes }: OpenRequest,
  csr: ParsedCsr,
  names: readonly ClassifiedName[],
  { secondParser }: JudgingParts,
): NamesOutcome {
  if (bytes !== undefined && !sameRequest(csr, secondParser(bytes.der))) {
    return pending('ParsersDisagree', 'Two independent parsers do not see the same request.');
  }
  const evidence = evidenceOf(names);
  // Every entry has its own proof here; a table without one of its rules must not approve the rest.
  if (evidence === undefined || names.length !== csr.san.length) {
    return pending('NameUnverified', 'A name of the request has no evidence.');
  }
  return { decision: { kind: 'approve', node: reading.nodeName, evidence }, because: 'approved' };
}

/** Evidence for each name, once for each spelling; undefined if a name has none. */
function evidenceOf(names: readonly ClassifiedName[]): readonly Evidence[] | undefined {
  const evidence = new Map<string, Evidence>();
  for (const { kind, name, standing } of names) {
    if (standing.kind !== 'own') return undefined;
    evidence.set(`${kind} ${name}`, { name, kind, source: standing.source });
  }
  return [...evidence.values()];
}
