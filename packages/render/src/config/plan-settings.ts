import type { ConfigSpec } from './config-spec.ts';
import type { ApiServerSettings } from './documents/api-server-settings.ts';
import { kubeletAuthorityFlag } from './documents/api-server-settings.ts';
import { apiServerStanding, workerApiServerProblems } from './live/api-server-standing.ts';
import { rotationFlag } from './live/kubelet-flags.ts';
import { standingToAsk, standingToStop } from './live/kubelet-standing.ts';
import { flagPath } from './live/live-config.ts';
import type { OptionState } from './option-state.ts';
import { type Problem, problemAt } from './problem.ts';

/** What a patch has to say, before it has a shape. */
export interface PlannedSettings {
  readonly serverTLSBootstrap: boolean | undefined;
  readonly kubeletAuthority: ApiServerSettings['kubeletAuthority'];
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

type Planned<K extends keyof PlannedSettings> = Pick<PlannedSettings, K | 'problems' | 'warnings'>;

/** Plans what a patch has to say for a state of the option, given what the machine runs with. */
export function planSettings(spec: ConfigSpec, state: OptionState): PlannedSettings {
  if (state === 'off') {
    return {
      serverTLSBootstrap: undefined,
      kubeletAuthority: undefined,
      problems: [],
      warnings: [],
    };
  }
  const kubelet = planKubelet(spec, state);
  const apiServer =
    spec.machineType === 'controlplane'
      ? planApiServer(spec, state)
      : { kubeletAuthority: undefined, ...planWorker(spec) };
  return {
    serverTLSBootstrap: kubelet.serverTLSBootstrap,
    kubeletAuthority: apiServer.kubeletAuthority,
    problems: [...kubelet.problems, ...apiServer.problems],
    warnings: [...kubelet.warnings, ...apiServer.warnings],
  };
}

function planKubelet({ live }: ConfigSpec, state: OptionState): Planned<'serverTLSBootstrap'> {
  if (state === 'removing') {
    if (live === undefined) return { serverTLSBootstrap: false, problems: [], warnings: [] };
    const { hasField, problems, warnings } = standingToStop(live.kubelet);
    return { serverTLSBootstrap: hasField ? false : undefined, problems, warnings };
  }
  if (live === undefined) return { serverTLSBootstrap: true, problems: [], warnings: [] };
  const { asksByFlag, problems, warnings } = standingToAsk(live.kubelet);
  if (!asksByFlag) return { serverTLSBootstrap: true, problems, warnings };
  const note = problemAt(
    flagPath(live.kubelet, rotationFlag),
    'makes the kubelet ask already, so nothing is added; the kubelet calls this flag deprecated.',
  );
  return { serverTLSBootstrap: undefined, problems, warnings: [...warnings, note] };
}

function planWorker({ live }: ConfigSpec): Pick<PlannedSettings, 'problems' | 'warnings'> {
  return live === undefined ? { problems: [], warnings: [] } : workerApiServerProblems(live);
}

function planApiServer(spec: ConfigSpec, state: OptionState): Planned<'kubeletAuthority'> {
  switch (state) {
    case 'verified':
      return {
        kubeletAuthority: 'verify',
        problems: spec.live === undefined ? [] : apiServerStanding(spec.live).problems,
        warnings: [],
      };
    case 'removing':
    case 'removingVerification':
      return planRemoval(spec);
    case 'off':
    case 'enabled':
    case 'unlatched':
      return { kubeletAuthority: undefined, problems: [], warnings: earlyFlagWarnings(spec) };
  }
}

/** A flag is taken away only where it is known to be there: Talos refuses to delete what is not. */
function planRemoval({ live, verified }: ConfigSpec): Planned<'kubeletAuthority'> {
  if (live === undefined) {
    if (verified === true) return { kubeletAuthority: 'delete', problems: [], warnings: [] };
    const note = problemAt(
      kubeletAuthorityFlag,
      'is left alone, because it is not known whether this control plane has it; give its live configuration, or say that the cluster was verified.',
    );
    return { kubeletAuthority: undefined, problems: [], warnings: [note] };
  }
  const { flag, path } = apiServerStanding(live);
  return {
    kubeletAuthority: flag === 'ours' ? 'delete' : undefined,
    problems: [],
    warnings:
      flag === 'foreign' ? [problemAt(path, 'holds a value that is not ours and stays.')] : [],
  };
}

function earlyFlagWarnings({ live }: ConfigSpec): readonly Problem[] {
  if (live === undefined) return [];
  const { flag, path } = apiServerStanding(live);
  return flag === 'absent'
    ? []
    : [
        problemAt(
          path,
          'makes the API server verify kubelets already, although the cluster is not known to be ready for it.',
        ),
      ];
}
