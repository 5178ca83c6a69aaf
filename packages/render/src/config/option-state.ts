import { type Problem, problemAt } from './problem.ts';

/** The part of a cluster's specification, and of its status, that decides what is rendered. */
export interface ServingCertificatesSpec {
  /** Whether kubelets ask for their serving certificates. */
  readonly enabled: boolean;
  /** Whether kube-apiserver shall verify kubelets once all of them can be. */
  readonly verifyFromAPIServer?: boolean;
}

/** What the state of the option is made of. */
export interface OptionInput {
  /** Absent means off. */
  readonly kubeletServingCertificates?: ServingCertificatesSpec | undefined;
  /** Whether the condition `KubeletServingVerified` is True: the latch that opens verification. */
  readonly verified?: boolean | undefined;
  /** Whether what is off now was on before and has to be taken back. */
  readonly removing?: boolean | undefined;
}

/**
 * State of the option.
 * - `off`: nothing is rendered.
 * - `enabled`: kubelets ask.
 * - `unlatched`: kubelets ask; verification is wanted, and not every kubelet can be verified yet.
 * - `verified`: kubelets ask, and kube-apiserver verifies them.
 * - `removingVerification`: kubelets go on asking; kube-apiserver stops verifying.
 * - `removing`: both are taken back.
 */
export type OptionState =
  | 'off'
  | 'enabled'
  | 'unlatched'
  | 'verified'
  | 'removingVerification'
  | 'removing';

const option = 'spec.security.kubeletServingCertificates';

/** The state of the option, or why there is none. */
export function optionState(input: OptionInput): OptionState | Problem {
  const { enabled, verifyFromAPIServer = false } = input.kubeletServingCertificates ?? {
    enabled: false,
  };
  if (verifyFromAPIServer && !enabled) {
    return problemAt(
      `${option}.verifyFromAPIServer`,
      'is true while enabled is false; set enabled to true, or this to false.',
    );
  }
  if (input.removing === true) {
    if (verifyFromAPIServer) {
      return problemAt(
        `${option}.verifyFromAPIServer`,
        'is true, so there is nothing to take back; set it to false first.',
      );
    }
    return enabled ? 'removingVerification' : 'removing';
  }
  if (!enabled) return 'off';
  if (!verifyFromAPIServer) return 'enabled';
  return input.verified === true ? 'verified' : 'unlatched';
}
