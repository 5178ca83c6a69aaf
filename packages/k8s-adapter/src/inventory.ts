import type { ObjectWatch } from './object-watch.ts';
import type {
  Condition,
  MachineIdentity,
  Parsed,
  ServingCertificateRecord,
  TalosCluster,
  TalosMachine,
} from './talos-objects.ts';

/** Status of a TalosCluster as it should be: what is absent is removed. */
export interface ClusterStatusApply {
  readonly observedGeneration: number;
  readonly machines?: { readonly total: number; readonly certified: number };
  readonly conditions: readonly Condition[];
}

/** Status of a TalosMachine as it should be: what is absent is removed. */
export interface MachineStatusApply {
  readonly nodeName?: string;
  readonly identity?: MachineIdentity;
  readonly kubeletServingCertificate?: ServingCertificateRecord;
}

/** One thing to tell people about a machine. Repeats of (machine, reason) raise the count. */
export interface MachineEvent {
  readonly machine: TalosMachine;
  readonly type: 'Normal' | 'Warning';
  /** CamelCase, at most 128 characters. */
  readonly reason: string;
  /** CamelCase verb, at most 128 characters. */
  readonly action: string;
  /** Free text; cut to 1,024 characters. */
  readonly note: string;
  /** The CSR it is about. */
  readonly related?: { readonly name: string; readonly uid: string };
}

/**
 * The namespace that holds the TalosClusters and TalosMachines, in the cluster that the operator
 * runs in. All failing calls throw KubeError.
 */
export interface Inventory {
  readonly namespace: string;
  readonly clusters: ObjectWatch<Parsed<TalosCluster>>;
  readonly machines: ObjectWatch<Parsed<TalosMachine>>;
  /** Values of a Secret by key, decoded. */
  readSecret(name: string): Promise<ReadonlyMap<string, Uint8Array>>;
  /** Server-side apply of the whole status with our field manager. */
  applyClusterStatus(name: string, status: ClusterStatusApply): Promise<void>;
  /** Server-side apply of the whole status with our field manager. */
  applyMachineStatus(name: string, status: MachineStatusApply): Promise<void>;
  recordEvent(event: MachineEvent): Promise<void>;
  close(): void;
}
