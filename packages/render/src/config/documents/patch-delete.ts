/** Takes a field away when it stands in a patch. (Talos's `pkg/machinery/config/configloader`) */
export interface PatchDelete {
  readonly $patch: 'delete';
}

/** Whether a value of a patch takes its field away. */
export function isPatchDelete(value: unknown): value is PatchDelete {
  return (
    typeof value === 'object' && value !== null && '$patch' in value && value.$patch === 'delete'
  );
}
