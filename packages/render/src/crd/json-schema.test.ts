import { describe, expect, it } from 'vitest';
import { type JsonSchema, withDefaults } from './json-schema.ts';

const schema: JsonSchema = {
  type: 'object',
  description: 'outer',
  properties: {
    inner: {
      type: 'object',
      description: 'inner',
      default: {},
      properties: { on: { type: 'boolean', description: 'on', default: false } },
    },
    items: {
      type: 'array',
      description: 'items',
      items: {
        type: 'object',
        description: 'item',
        properties: { size: { type: 'integer', description: 'size', default: 3 } },
      },
    },
  },
};

describe('withDefaults', () => {
  it('fills in a default and the defaults inside it', () => {
    expect(withDefaults(schema, {})).toEqual({ inner: { on: false } });
  });

  it('takes null for absent', () => {
    expect(withDefaults(schema, { inner: null })).toEqual({ inner: { on: false } });
  });

  it('keeps what was given, false and zero included', () => {
    expect(withDefaults(schema, { inner: { on: true }, items: [{ size: 0 }] })).toEqual({
      inner: { on: true },
      items: [{ size: 0 }],
    });
  });

  it('visits the items of a list', () => {
    expect(withDefaults(schema, { items: [{}] })).toMatchObject({ items: [{ size: 3 }] });
  });

  it('leaves fields that the schema does not know', () => {
    expect(withDefaults(schema, { other: 1 })).toMatchObject({ other: 1 });
  });

  it('does not change its input', () => {
    const input = Object.freeze({ items: Object.freeze([Object.freeze({})]) });
    expect(withDefaults(schema, input)).not.toBe(input);
    expect(input).toEqual({ items: [{}] });
  });
});
