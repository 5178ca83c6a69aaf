import type { Conduct, MachineIdentityPlan, TrueNames } from './physical-machine.ts';
import type { SeededRandom } from './seeded-random.ts';

/** What a simulated cluster consists of when it begins. */
export interface ClusterPlan {
  readonly name: string;
  /** Number of the Kubernetes that its kubelets ask; 0 holds the inventory, too. */
  readonly kubernetes: number;
  readonly endpoint: string | undefined;
  readonly vip: string | undefined;
  /** First two octets of its addresses, `10.5`. */
  readonly prefix: string;
  readonly unknownNames: 'Deny' | 'Pending';
  readonly extraDNSNames: readonly string[];
  readonly extraSubnets: readonly string[];
  readonly machines: readonly MachinePlan[];
}

/** One machine, as it is and as the inventory has it. */
export interface MachinePlan extends MachineIdentityPlan {
  readonly names: TrueNames;
  /** What `spec.hostname` says; undefined: nothing. */
  readonly hostname: string | undefined;
}

/** Pod and service ranges of every simulated cluster. */
export const clusterRanges = ['10.244.0.0/16', '10.96.0.0/12'];

/** What the control planes of a cluster exclude from node addresses. */
export function excludedIn({ vip }: Pick<ClusterPlan, 'vip'>): readonly string[] {
  return vip === undefined ? clusterRanges : [...clusterRanges, vip];
}

/** Draws one or two clusters. The second may have the API server of the first. */
export function planWorld(random: SeededRandom): readonly ClusterPlan[] {
  const first = planCluster(random, 'lab', 0, '10.5', 8);
  if (!random.chance(0.4)) return [first];
  const shared = random.chance(0.3);
  return [first, planCluster(random, 'edge', shared ? 0 : 1, '10.6', 3, shared ? 'edge-' : '')];
}

function planCluster(
  random: SeededRandom,
  name: string,
  kubernetes: number,
  prefix: string,
  mostWorkers: number,
  nodePrefix = '',
): ClusterPlan {
  const controlPlanes = random.int(1, 3);
  const workers = random.int(1, mostWorkers);
  const machines: MachinePlan[] = [];
  for (let number = 1; number <= controlPlanes; number += 1) {
    machines.push(
      planMachine(
        random,
        name,
        'controlplane',
        `${nodePrefix}cp-${number}`,
        `${prefix}.0.${1 + number}`,
      ),
    );
  }
  for (let number = 1; number <= workers; number += 1) {
    machines.push(
      planMachine(
        random,
        name,
        'worker',
        `${nodePrefix}worker-${number}`,
        `${prefix}.0.${10 + number}`,
      ),
    );
  }
  if (workers > 1 && random.chance(0.1)) duplicate(random, machines, controlPlanes);
  const vip = random.chance(0.6) ? `${prefix}.0.100` : undefined;
  const host = vip ?? (controlPlanes === 1 ? `${prefix}.0.2` : `api.${name}.example`);
  return {
    name,
    kubernetes,
    prefix,
    vip,
    endpoint: random.chance(0.9) ? `https://${host}:6443` : undefined,
    unknownNames: random.chance(0.3) ? 'Pending' : 'Deny',
    extraDNSNames: random.chance(0.3) ? [`shared.${name}.example`] : [],
    extraSubnets: random.chance(0.3) ? [`${prefix}.7.0/24`] : [],
    machines,
  };
}

/** Draws a machine of a cluster. Control planes are honest: what is reserved is their word. */
export function planMachine(
  random: SeededRandom,
  cluster: string,
  machineType: 'controlplane' | 'worker',
  nodeName: string,
  address: string,
): MachinePlan {
  const conducts: readonly Conduct[] = ['honest', 'honest', 'honest', 'compromised', 'lying'];
  const last = address.split('.').at(-1) ?? '0';
  return {
    name: `${cluster}.${nodeName}`,
    cluster,
    machineType,
    nodeName,
    conduct: machineType === 'controlplane' ? 'honest' : random.pick(conducts),
    hostname: random.chance(0.7) ? nodeName : undefined,
    names: {
      nodeIps: random.chance(0.3) ? [address, `fd00:5::${last}`] : [address],
      externalAddresses: random.chance(0.2) ? [`203.0.113.${last}`] : [],
      platformNames: random.chance(0.2) ? [`${nodeName}.cloud.example`] : [],
      domainname: random.chance(0.2) ? `${cluster}.example` : '',
    },
  };
}

/** Gives one worker the name of another, as a cloned machine has it. */
function duplicate(random: SeededRandom, machines: MachinePlan[], controlPlanes: number): void {
  const index = random.int(controlPlanes + 1, machines.length - 1);
  const original = machines[controlPlanes];
  const clone = machines[index];
  if (original === undefined || clone === undefined) return;
  machines[index] = {
    ...clone,
    nodeName: original.nodeName,
    hostname: random.chance(0.5) ? original.nodeName : undefined,
  };
}
