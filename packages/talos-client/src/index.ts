export type { NodeFacts, NodeTarget, TalosAccess, TalosClient } from './talos-client.ts';
export { TalosError, type TalosErrorCode } from './talos-error.ts';
