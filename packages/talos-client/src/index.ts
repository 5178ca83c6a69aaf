export { type AccessSource, fixedAccess } from './access-source.ts';
export type { CosiClient, ResourceEvent, ResourceTarget, TalosVersion } from './cosi-client.ts';
export { createTalosClient, type TalosClientOptions } from './create-talos-client.ts';
export type { Resource } from './resource.ts';
export type { NodeFacts, NodeTarget, TalosAccess, TalosClient } from './talos-client.ts';
export { TalosError, type TalosErrorCode } from './talos-error.ts';
export {
  accessOf,
  parseTalosconfig,
  type Talosconfig,
  type TalosconfigContext,
} from './talosconfig.ts';
export { TalosconfigError } from './talosconfig-error.ts';
export { type TalosconfigFileOptions, talosconfigFile } from './talosconfig-file.ts';
