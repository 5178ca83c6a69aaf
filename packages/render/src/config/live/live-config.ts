import type { Mapping } from '../fields.ts';

/** Talos's names for the two types of machines; its `init` is a control plane. */
export type MachineType = 'controlplane' | 'worker';

/**
 * How a configuration spells a component: as a document of its own, as fields of the `v1alpha1` document, or
 * not at all, in which case Talos runs it with its defaults.
 */
export type ComponentShape = 'document' | 'legacy' | 'absent';

/** A component as a machine configuration has it. */
export interface LiveComponent {
  readonly shape: ComponentShape;
  /** Path of the component: `KubeletConfig` or `.machine.kubelet`. */
  readonly path: string;
  /** Flags by name without dashes; a flag that is repeated has several values. */
  readonly flags: ReadonlyMap<string, readonly string[]>;
}

/** The kubelet as a machine configuration has it. */
export interface LiveKubelet extends LiveComponent {
  /** Path of what is merged into the kubelet's configuration file. */
  readonly configPath: string;
  /** What is merged into the kubelet's configuration file; empty where there is nothing. */
  readonly config: Mapping;
}

/** What rendering has to know of the configuration that a machine runs with. */
export interface LiveConfig {
  /** Undefined where the configuration does not say. */
  readonly machineType: MachineType | undefined;
  readonly kubelet: LiveKubelet;
  readonly apiServer: LiveComponent;
}

/** The path of a flag of a component. */
export function flagPath(component: LiveComponent, flag: string): string {
  return `${component.path}.extraArgs.${flag}`;
}
