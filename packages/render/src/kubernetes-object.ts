/** A Kubernetes object as plain data, as `kubectl apply` takes it. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
}

/** Labels that every object of an installation carries, so that it can be found and removed. */
export const installLabels: Readonly<Record<string, string>> = {
  'app.kubernetes.io/name': 'ichor',
};
