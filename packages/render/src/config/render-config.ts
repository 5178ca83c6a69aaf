import { type ComponentImages, componentImages } from './component-images.ts';
import type { ConfigSpec } from './config-spec.ts';
import type { ApiServerSettings } from './documents/api-server-settings.ts';
import type { ConfigDocument } from './documents/config-document.ts';
import { kubeApiServerConfig } from './documents/kube-api-server-config.ts';
import { kubeletConfig } from './documents/kubelet-config.ts';
import type { KubeletSettings } from './documents/kubelet-settings.ts';
import { v1alpha1Config } from './documents/v1alpha1-config.ts';
import { type OptionState, optionState } from './option-state.ts';
import { type PlannedSettings, planSettings } from './plan-settings.ts';
import type { Problem } from './problem.ts';
import { problemAt } from './problem.ts';
import { readContract } from './read-contract.ts';
import { renderingShape } from './rendering-shape.ts';
import type { VersionContract } from './version-contract.ts';

/** Documents for Talos, or why there are none. */
export type RenderedConfig =
  | {
      readonly kind: 'rendered';
      /** In the order in which they are printed; empty where there is nothing to change. */
      readonly documents: readonly ConfigDocument[];
      readonly warnings: readonly Problem[];
    }
  | { readonly kind: 'refused'; readonly problems: readonly [Problem, ...Problem[]] };

/**
 * Renders the configuration of one machine for Talos: what makes its kubelet ask for a serving certificate, and
 * on a verified control plane what makes kube-apiserver verify kubelets. Total, deterministic, never throws.
 *
 * With the option off the patch is empty and whole documents are those of a specification without the option.
 *
 * @param contract the version contract as written, such as `v1.14`; absent means the newest
 */
export function renderConfig(spec: ConfigSpec, contract?: string): RenderedConfig {
  const parsed = readContract(contract, spec.live);
  if ('sentence' in parsed) return refused(parsed);
  const state = optionState(spec);
  if (typeof state !== 'string') return refused(state);
  const { live, machineType } = spec;
  if (live?.machineType !== undefined && live.machineType !== machineType) {
    return refused(
      problemAt(
        '.machine.type',
        `is ${live.machineType}, and this is rendered for a ${machineType}; name the other type of machine, or give its own configuration.`,
      ),
    );
  }
  const images = spec.output === 'full' ? componentImages(spec) : undefined;
  if (images !== undefined && 'sentence' in images) return refused(images);
  const plan = planSettings(spec, state);
  const [problem, ...problems] = plan.problems;
  if (problem !== undefined) return refused(problem, ...problems);
  const { kubelet, apiServer } =
    images === undefined ? patchSettings(plan) : wholeSettings(plan, state, images);
  return {
    kind: 'rendered',
    documents: documentsOf(spec, parsed.contract, kubelet, apiServer),
    warnings: [...parsed.warnings, ...plan.warnings],
  };
}

interface MachineSettings {
  readonly kubelet: KubeletSettings;
  readonly apiServer: ApiServerSettings;
}

function patchSettings(plan: PlannedSettings): MachineSettings {
  const { serverTLSBootstrap, kubeletAuthority } = plan;
  return {
    kubelet: { image: undefined, serverTLSBootstrap },
    apiServer: { image: undefined, kubeletAuthority },
  };
}

function wholeSettings(
  plan: PlannedSettings,
  state: OptionState,
  images: ComponentImages,
): MachineSettings {
  const asks = state !== 'off' && state !== 'removing';
  return {
    // A flag that makes the kubelet ask is the administrator's, and no whole document of ours has it.
    kubelet: {
      image: images.kubelet,
      serverTLSBootstrap: asks ? true : plan.serverTLSBootstrap,
    },
    // What a whole document leaves out is not there: nothing has to be taken away.
    apiServer: {
      image: images.apiServer,
      kubeletAuthority: plan.kubeletAuthority === 'verify' ? 'verify' : undefined,
    },
  };
}

function documentsOf(
  { live, machineType }: ConfigSpec,
  contract: VersionContract,
  kubelet: KubeletSettings,
  apiServer: ApiServerSettings,
): readonly ConfigDocument[] {
  const ofMachine = machineType === 'controlplane' ? apiServer : undefined;
  const kubeletShape = renderingShape(contract, live?.kubelet);
  const apiServerShape = renderingShape(contract, live?.apiServer);
  const documents = [
    v1alpha1Config(
      kubeletShape === 'legacy' ? kubelet : undefined,
      apiServerShape === 'legacy' ? ofMachine : undefined,
    ),
    kubeletShape === 'document' ? kubeletConfig(kubelet) : undefined,
    apiServerShape === 'document' && ofMachine !== undefined
      ? kubeApiServerConfig(ofMachine)
      : undefined,
  ];
  return documents.filter((document) => document !== undefined);
}

function refused(...problems: readonly [Problem, ...Problem[]]): RenderedConfig {
  return { kind: 'refused', problems };
}
