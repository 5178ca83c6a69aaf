/**
 * One CEL rule of a schema. `self` is the value, `oldSelf` the stored one: a rule that reads it
 * holds on updates only. (apiextensions.k8s.io/v1, ValidationRule)
 */
export interface ValidationRule {
  readonly rule: string;
  /** What the person who applied the object reads; says what is accepted. */
  readonly message: string;
}

/**
 * The part of a structural schema that our kinds use. Lengths count characters, `maximum` and
 * `minimum` are inclusive. (apiextensions.k8s.io/v1, JSONSchemaProps)
 */
export interface JsonSchema {
  readonly type: 'object' | 'array' | 'string' | 'integer' | 'boolean';
  readonly description: string;
  readonly format?: 'date-time' | 'int32' | 'int64';
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: JsonSchema;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: 'atomic';
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[];
}

/**
 * Fills in the defaults of a schema as the API server does: absent and null fields that have a
 * default get it, and what was filled in is visited again. The input is not changed.
 * (apiextensions-apiserver pkg/apiserver/schema/defaulting)
 */
export function withDefaults(schema: JsonSchema, value: unknown): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined ? value : value.map((item) => withDefaults(items, item));
  }
  if (typeof value !== 'object' || value === null) return value;
  const result: Record<string, unknown> = { ...value };
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const given = result[name] ?? property.default;
    if (given !== undefined) result[name] = withDefaults(property, given);
  }
  return result;
}
