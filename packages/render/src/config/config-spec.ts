import type { LiveConfig, MachineType } from './live/live-config.ts';
import type { OptionInput } from './option-state.ts';

/** What rendering reads. */
export interface ConfigSpec extends OptionInput {
  readonly machineType: MachineType;
  /**
   * `patch` (the default) is what an administrator applies to a configuration that exists; `full` is whole
   * documents, which need images.
   */
  readonly output?: 'patch' | 'full' | undefined;
  /** Version of Kubernetes, such as `v1.37.2`, of which images are made for whole documents. */
  readonly kubernetesVersion?: string | undefined;
  /** Images other than Talos's own. */
  readonly images?: { readonly kubelet?: string; readonly apiServer?: string } | undefined;
  /** The configuration that the machine runs with; its shape wins over the contract. */
  readonly live?: LiveConfig | undefined;
}
