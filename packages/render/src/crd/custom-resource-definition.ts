import { installLabels, type KubernetesObject } from '../kubernetes-object.ts';
import type { JsonSchema } from './json-schema.ts';

/** API group and version of our kinds. */
export const apiGroup = 'ichor.dev';
export const apiVersion = 'v1alpha1';

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date';
  readonly jsonPath: string;
}

/** An `apiextensions.k8s.io/v1` CustomResourceDefinition of one namespaced kind in one version. */
export interface CustomResourceDefinition extends KubernetesObject {
  readonly apiVersion: 'apiextensions.k8s.io/v1';
  readonly kind: 'CustomResourceDefinition';
  readonly spec: {
    readonly group: string;
    readonly scope: 'Namespaced';
    readonly names: {
      readonly kind: string;
      readonly listKind: string;
      readonly plural: string;
      readonly singular: string;
      readonly categories: readonly string[];
    };
    readonly versions: readonly [
      {
        readonly name: string;
        readonly served: true;
        readonly storage: true;
        readonly subresources: { readonly status: Readonly<Record<string, never>> };
        readonly additionalPrinterColumns: readonly PrinterColumn[];
        readonly schema: { readonly openAPIV3Schema: JsonSchema };
      },
    ];
  };
}

/** Wraps the schema of a kind, with the status subresource on. */
export function customResourceDefinition(kind: {
  readonly kind: string;
  readonly plural: string;
  readonly schema: JsonSchema;
  readonly columns: readonly PrinterColumn[];
}): CustomResourceDefinition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${kind.plural}.${apiGroup}`, labels: installLabels },
    spec: {
      group: apiGroup,
      scope: 'Namespaced',
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural: kind.plural,
        singular: kind.kind.toLowerCase(),
        categories: ['ichor'],
      },
      versions: [
        {
          name: apiVersion,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: kind.columns,
          schema: { openAPIV3Schema: kind.schema },
        },
      ],
    },
  };
}
