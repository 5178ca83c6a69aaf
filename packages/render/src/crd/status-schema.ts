import type { JsonSchema } from './json-schema.ts';

/** A time as RFC 3339 text. */
export const timeSchema = (description: string): JsonSchema => ({
  type: 'string',
  format: 'date-time',
  description,
});

/** A list that is always written as a whole; `items` are texts of at most `maxLength` characters. */
export const textList = (description: string, maxLength: number): JsonSchema => ({
  type: 'array',
  description,
  maxItems: 1024,
  'x-kubernetes-list-type': 'atomic',
  items: { type: 'string', description: 'One value.', maxLength },
});

/** `metav1.Condition`s, one per type, so that server-side apply merges them by type. */
export const conditionsSchema: JsonSchema = {
  type: 'array',
  description: 'Latest observations, one condition per type.',
  maxItems: 32,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
  items: {
    type: 'object',
    description: 'One observation.',
    required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
    properties: {
      type: {
        type: 'string',
        description: 'What is observed, in CamelCase.',
        minLength: 1,
        maxLength: 316,
      },
      status: {
        type: 'string',
        description: 'Whether it holds.',
        enum: ['True', 'False', 'Unknown'],
      },
      reason: {
        type: 'string',
        description: 'Why, as one CamelCase word.',
        minLength: 1,
        maxLength: 1024,
        pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
      },
      message: {
        type: 'string',
        description: 'Why, as a sentence; may be empty.',
        maxLength: 32768,
      },
      lastTransitionTime: timeSchema('When the status last changed.'),
      observedGeneration: {
        type: 'integer',
        format: 'int64',
        description: 'Generation of the object that the observation is about.',
        minimum: 0,
      },
    },
  },
};
