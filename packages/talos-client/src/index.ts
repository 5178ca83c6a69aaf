export { type AccessSource, fixedAccess } from './access-source.ts';
export { createTalosClient, type TalosClientOptions } from './create-talos-client.ts';
export type { NodeFacts, NodeTarget, TalosAccess, TalosClient } from './talos-client.ts';
export { TalosError, type TalosErrorCode } from './talos-error.ts';
export { accessOf, parseTalosconfig, type Talosconfig, TalosconfigError } from './talosconfig.ts';
export { type TalosconfigFileOptions, talosconfigFile } from './talosconfig-file.ts';
