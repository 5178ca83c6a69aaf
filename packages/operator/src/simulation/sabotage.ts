import type { SourcedValue } from '@ichor/policy';
import type { SimulationSettings } from './simulation.ts';

type Wrap<F> = (original: F) => F;

/** The parts of the operator that a test can replace while it runs. */
export interface Replaced {
  planDecision?: Wrap<typeof import('../kubelet-serving/plan-decision.ts').planDecision>;
  identityOf?: Wrap<typeof import('../kubelet-serving/node-identity.ts').identityOf>;
  reservedIn?: Wrap<typeof import('../kubelet-serving/node-identity.ts').reservedIn>;
  planReadings?: Wrap<typeof import('../kubelet-serving/plan-readings.ts').planReadings>;
  planRecord?: Wrap<typeof import('../kubelet-serving/plan-records.ts').planRecord>;
  planTurns?: Wrap<typeof import('../kubelet-serving/plan-turns.ts').planTurns>;
  actOn?: Wrap<typeof import('../kubelet-serving/act.ts').actOn>;
  /** Whether the reconciler goes on when its cluster is switched off. */
  neverStops?: boolean;
  /** Whether what blocks a cluster is not heard of. */
  ignoresBlocks?: boolean;
  /** Whether requests that are gone are remembered for good. */
  keepsTracks?: boolean;
}

/** A fault of the operator itself, and the rules of which one must be seen to break. */
export interface Sabotage {
  readonly name: string;
  readonly breaks: readonly string[];
  readonly replaced: Replaced;
  readonly settings?: SimulationSettings;
  /** The first seed to try; known to be noticed soon, which saves time. Default: 1. */
  readonly firstSeed?: number;
}

const nothingReserved = { dnsNames: [], ipAddresses: [], subnets: [] };

const everHad = new Map<string, Map<string, SourcedValue>>();

/** Forgets what a sabotage has gathered in an earlier run. */
export function beginAnew(): void {
  everHad.clear();
}

/** One sabotage per rule at least, so that each rule is known to be alive. */
export const sabotages: readonly Sabotage[] = [
  {
    name: 'readings never age, and silence counts as the last word',
    firstSeed: 7,
    breaks: ['honest-denied', 'not-its-names'],
    replaced: {
      planDecision: (original) => (snapshot) =>
        original({
          ...snapshot,
          machines: snapshot.machines.map((known) =>
            known.facts === undefined
              ? known
              : { ...known, state: { ...known.state, triedAt: snapshot.now, failure: undefined } },
          ),
        }),
    },
  },
  {
    name: 'what a node once had stays its own',
    firstSeed: 3,
    breaks: ['not-its-names'],
    replaced: {
      identityOf:
        (original) =>
        (target, facts, ...rest) => {
          const judgement = original(target, facts, ...rest);
          const had = everHad.get(target.uid) ?? new Map();
          everHad.set(target.uid, had);
          for (const value of judgement.identity.ipAddresses) had.set(value.value, value);
          const ipAddresses = [...had.values()];
          return { ...judgement, identity: { ...judgement.identity, ipAddresses } };
        },
    },
  },
  {
    name: 'the other machines are forgotten',
    breaks: ['name-of-another'],
    replaced: {
      identityOf:
        (original) =>
        (...given) => {
          const judgement = original(...given);
          return { ...judgement, identity: { ...judgement.identity, others: [] } };
        },
    },
  },
  {
    name: 'nothing is reserved',
    breaks: ['reserved'],
    replaced: {
      reservedIn: () => () => ({ kind: 'known', reserved: nothingReserved }),
      identityOf: (original) => (target, facts, cluster, machines, reserved) => {
        const { identity, options, ...rest } = original(target, facts, cluster, machines, reserved);
        // An administrator who gives a range to all machines shows what reserving is for.
        const subnets = [{ value: '10.0.0.0/8', source: 'Configured' as const }];
        return { ...rest, options, identity: { ...identity, subnets } };
      },
    },
  },
  {
    name: 'half of what a node says is lost',
    breaks: ['honest-denied'],
    replaced: {
      identityOf:
        (original) =>
        (...given) => {
          const judgement = original(...given);
          const { identity } = judgement;
          const ipAddresses = identity.ipAddresses.slice(0, 1);
          return { ...judgement, identity: { ...identity, ipAddresses } };
        },
    },
  },
  {
    name: 'nothing is stored first',
    breaks: ['not-stored'],
    replaced: {
      actOn: (original) => (act) =>
        original({ ...act, statuses: { flush: async () => undefined } }),
    },
  },
  {
    name: 'decisions are written over changes',
    firstSeed: 35,
    breaks: ['decided-twice'],
    replaced: {},
    settings: { overwrites: true },
  },
  {
    name: 'off is not off',
    firstSeed: 3,
    breaks: ['switched-off'],
    replaced: { neverStops: true },
  },
  {
    name: 'two clusters with one API server both decide',
    firstSeed: 7,
    breaks: ['shared-server'],
    replaced: { ignoresBlocks: true },
  },
  {
    name: 'every certificate is recorded',
    breaks: ['foreign-record'],
    replaced: {
      planRecord: (original) => (request, machine, judgement) =>
        original(request, machine, {
          subnetsWithheld: false,
          options: { unknownNames: 'pending' },
          identity: { ...judgement.identity, others: [], reserved: nothingReserved },
        }),
    },
  },
  {
    name: 'the turn of some users never comes',
    breaks: ['not-certified'],
    replaced: {
      planTurns: (original) => (snapshot) =>
        original({
          ...snapshot,
          waiting: snapshot.waiting.filter(({ user }) => !user.startsWith('system:node:cp-')),
        }),
    },
  },
  {
    name: 'a pass fails now and then',
    breaks: ['pass-failed'],
    replaced: {
      planTurns: (original) => (snapshot) => {
        if (snapshot.waiting.length > 2) throw new Error('sabotaged');
        return original(snapshot);
      },
    },
  },
  {
    name: 'machines are read all the time',
    breaks: ['busy-idle'],
    replaced: {
      planReadings: () => (machines, now) => ({
        due: machines
          .filter(({ state }) => now - (state.triedAt ?? 0) >= 5_000)
          .map(({ machine }) => machine),
        nextInMs: 5_000,
      }),
    },
  },
  { name: 'no request is forgotten', breaks: ['tracks-grow'], replaced: { keepsTracks: true } },
];
