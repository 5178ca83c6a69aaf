import { fieldOf, isMapping } from '../fields.ts';
import { type Problem, problemAt, quoted } from '../problem.ts';
import {
  flagTruth,
  identityFlags,
  protectedFields,
  rotationFlag,
  rotationGate,
} from './kubelet-flags.ts';
import { flagPath, type LiveKubelet } from './live-config.ts';

/** What a live kubelet makes of the setting. */
export interface KubeletStanding {
  /** What stops rendering. */
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** Whether a flag of the administrator's makes the kubelet ask already. */
  readonly asksByFlag: boolean;
  /** Whether the field is there, true or false. */
  readonly hasField: boolean;
}

/** Judges a live kubelet that shall ask for its serving certificate. */
export function standingToAsk(kubelet: LiveKubelet): KubeletStanding {
  const field = fieldStanding(kubelet);
  const rotation = rotationStanding(kubelet);
  return {
    ...field,
    asksByFlag: rotation.on,
    problems: [
      ...field.problems,
      ...rotation.problems,
      ...identityProblems(kubelet),
      ...gateProblems(kubelet),
    ],
    warnings: ownCertificateWarnings(kubelet),
  };
}

/** Judges a live kubelet that shall stop asking. */
export function standingToStop(kubelet: LiveKubelet): KubeletStanding {
  const field = fieldStanding(kubelet);
  const path = flagPath(kubelet, rotationFlag);
  const { on } = rotationStanding(kubelet);
  const warnings = on
    ? [problemAt(path, 'makes the kubelet ask all the same; remove it by hand, it is not ours.')]
    : [];
  return { ...field, asksByFlag: on, warnings };
}

function fieldStanding({ config, configPath }: LiveKubelet) {
  const problems = protectedFields
    .filter((key) => Object.hasOwn(config, key))
    .map((key) => problemAt(`${configPath}.${key}`, 'is a field that Talos protects; remove it.'));
  const value = fieldOf(config, 'serverTLSBootstrap');
  if (value !== undefined && typeof value !== 'boolean') {
    problems.push(
      problemAt(
        `${configPath}.serverTLSBootstrap`,
        `is ${quoted(value)}, which no kubelet takes; make it true or false without quotes.`,
      ),
    );
  }
  return { problems, hasField: value !== undefined };
}

function rotationStanding(kubelet: LiveKubelet): {
  readonly on: boolean;
  readonly problems: readonly Problem[];
} {
  // Of a flag that is repeated the kubelet takes the last.
  const value = kubelet.flags.get(rotationFlag)?.at(-1);
  if (value === undefined) return { on: false, problems: [] };
  const on = flagTruth(value) === true;
  const problem = problemAt(
    flagPath(kubelet, rotationFlag),
    `is ${quoted(value)}, and the flag wins over serverTLSBootstrap; remove the flag.`,
  );
  return { on, problems: on ? [] : [problem] };
}

function identityProblems(kubelet: LiveKubelet): readonly Problem[] {
  return identityFlags
    .filter((flag) => kubelet.flags.has(flag))
    .map((flag) =>
      problemAt(
        flagPath(kubelet, flag),
        'makes the kubelet ask for names that the node does not report, so its requests would not be approved; remove the flag.',
      ),
    );
}

function gateProblems(kubelet: LiveKubelet): readonly Problem[] {
  const why = `switches the gate ${rotationGate} off, without which serverTLSBootstrap stops the kubelet; remove it.`;
  const gates = fieldOf(kubelet.config, 'featureGates');
  const byFlag = (kubelet.flags.get('feature-gates') ?? []).flatMap((value) => value.split(','));
  return [
    ...(isMapping(gates) && fieldOf(gates, rotationGate) === false
      ? [problemAt(`${kubelet.configPath}.featureGates.${rotationGate}`, why)]
      : []),
    ...(byFlag.some((gate) => isGateOff(gate))
      ? [problemAt(flagPath(kubelet, 'feature-gates'), why)]
      : []),
  ];
}

function isGateOff(assignment: string): boolean {
  const [gate, value = ''] = assignment.split('=').map((part) => part.trim());
  return gate === rotationGate && flagTruth(value) === false;
}

function ownCertificateWarnings(kubelet: LiveKubelet): readonly Problem[] {
  const why = 'gives the kubelet a certificate of its own, which it serves until one is issued.';
  return [
    ...(fieldOf(kubelet.config, 'tlsCertFile') === undefined
      ? []
      : [problemAt(`${kubelet.configPath}.tlsCertFile`, why)]),
    ...(kubelet.flags.has('tls-cert-file')
      ? [problemAt(flagPath(kubelet, 'tls-cert-file'), why)]
      : []),
  ];
}
