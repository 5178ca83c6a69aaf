import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { TalosNodeSpec } from '../src/index.ts';

/** One vector of `packages/policy/testdata/csr-decisions.json`, as far as it is needed to create it and compare. */
export type StorableVector = {
  readonly id: string;
  readonly title: string;
  readonly reach: 'api' | 'raw-der' | 'state' | 'unit';
  readonly csr: {
    readonly metadata: {
      readonly name: string;
      readonly labels?: object;
      readonly annotations?: object;
      readonly ownerReferences?: readonly object[];
    };
    readonly spec: {
      readonly request: string;
      readonly signerName: string;
      readonly usages: readonly string[];
      readonly expirationSeconds?: number;
      readonly username: string;
      readonly groups: readonly string[];
    };
  };
  readonly generate?: readonly { readonly text: string; readonly times?: number }[];
  readonly node: { readonly kind: string; readonly identity?: { readonly nodeName: string } };
  readonly options?: {
    readonly unknownNames?: 'deny' | 'pending';
    readonly maxExpirationSeconds?: number;
  };
  readonly expect: {
    readonly kind: 'approve' | 'deny' | 'pending';
    readonly reasons: readonly string[];
  };
};

/** A Talos node whose name is its node name and its host name. */
export type FixtureNode = Omit<TalosNodeSpec, 'hostname'> & {
  readonly hostname: string;
  readonly nodeIPs: readonly [string, ...string[]];
};

const domain = 'lab.example';
const reserved = {
  dnsNames: [`api.${domain}`],
  ipAddresses: ['10.5.0.100'],
  subnets: ['10.96.0.0/12', '10.244.0.0/16'],
};

/** The machines that the vectors' readings describe, as Talos nodes that say so. */
export const fixtureNodes: readonly FixtureNode[] = [
  node('worker-1', 'worker', ['10.5.0.11', 'fd00:5::11']),
  node('worker-10', 'worker', ['10.5.0.20']),
  node('cp-1', 'controlplane', ['10.5.0.2']),
];

/** The control-plane endpoint, whose host is reserved; what else is reserved the control plane says. */
export const fixtureEndpoint = 'https://api.lab.example:6443';

/**
 * The vectors that a real API server stores and that are about one of these machines, with exactly the reading
 * that its Talos node gives, or about no machine at all. In the order of the file.
 */
export function storableVectors(): readonly StorableVector[] {
  const file = new URL('../../policy/testdata/csr-decisions.json', import.meta.url);
  const vectors = JSON.parse(readFileSync(file, 'utf8')) as readonly StorableVector[];
  const identities = fixtureNodes.map((own) => identityOf(own));
  return vectors.filter(
    ({ reach, node: { kind, identity } }) =>
      (reach === 'api' || reach === 'raw-der') &&
      (kind === 'unmanaged' || identities.some((known) => isDeepStrictEqual(identity, known))),
  );
}

/** Vectors that are judged by the same options of a TalosCluster, spelled as its kubeletServingCertificates. */
export type VectorGroup = {
  readonly options: Readonly<Record<string, unknown>>;
  readonly members: readonly StorableVector[];
};

/**
 * Groups vectors by options. Those that leave unknown names to a person come last: what they leave pending would
 * be denied by the options of the others.
 */
export function groupedByOptions(vectors: readonly StorableVector[]): readonly VectorGroup[] {
  const groups = new Map<string, VectorGroup>();
  for (const vector of vectors) {
    const { unknownNames, maxExpirationSeconds } = vector.options ?? {};
    const options = {
      ...(unknownNames === 'pending' ? { unknownNames: 'Pending' } : {}),
      ...(maxExpirationSeconds === undefined ? {} : { maxExpirationSeconds }),
    };
    const key = JSON.stringify(options);
    const members = groups.get(key)?.members ?? [];
    groups.set(key, { options, members: [...members, vector] });
  }
  const isLenient = ({ options }: VectorGroup) => Number(options['unknownNames'] === 'Pending');
  return [...groups.values()].sort((a, b) => isLenient(a) - isLenient(b));
}

/** `spec.request` of a vector: base64 of the PEM text, put together where the vector only says how. */
export function requestOf({ csr, generate }: StorableVector): string {
  if (generate === undefined) return csr.spec.request;
  const text = generate.map((part) => part.text.repeat(part.times ?? 1)).join('');
  return Buffer.from(text, 'utf8').toString('base64');
}

function node(
  name: string,
  machineType: FixtureNode['machineType'],
  nodeIPs: FixtureNode['nodeIPs'],
): FixtureNode {
  const excludeSubnets = [...reserved.subnets, ...reserved.ipAddresses];
  return {
    name,
    machineType,
    address: nodeIPs[0],
    nodeIPs,
    nodename: name,
    hostname: name,
    domainname: domain,
    ...(machineType === 'controlplane' ? { excludeSubnets } : {}),
  };
}

function identityOf(own: FixtureNode): object {
  return {
    nodeName: own.name,
    ...holdings(own),
    subnets: [],
    reserved,
    others: fixtureNodes
      .filter((other) => other !== own)
      .map((other) => ({ machine: other.name, ...holdings(other) })),
  };
}

/** What a machine holds, as a vector's reading spells it. */
function holdings({ name, nodeIPs }: FixtureNode): object {
  return {
    dnsNames: [
      { value: name, source: 'Nodename' },
      { value: name, source: 'HostnameStatus' },
      { value: `${name}.${domain}`, source: 'HostnameStatus' },
    ],
    ipAddresses: nodeIPs.map((value) => ({ value, source: 'NodeIP' })),
  };
}
