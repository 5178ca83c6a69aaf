import type { LiveComponent } from './live/live-config.ts';
import { hasKubernetesDocuments, type VersionContract } from './version-contract.ts';

/** How a component is rendered: as its document, or as fields of the `v1alpha1` document. */
export type RenderingShape = 'document' | 'legacy';

/**
 * The shape to render a component in. A live configuration keeps the shape that it has, whatever the contract
 * says: Talos refuses both shapes of one component. Where it has none, the old fields are the smaller change,
 * since a document needs an image and replaces defaults.
 */
export function renderingShape(
  contract: VersionContract,
  live: LiveComponent | undefined,
): RenderingShape {
  if (live === undefined) return hasKubernetesDocuments(contract) ? 'document' : 'legacy';
  return live.shape === 'document' ? 'document' : 'legacy';
}
