import { afterEach, describe, expect, it, vi } from 'vitest';
import { KubeletServingReconciler } from '../kubelet-serving/reconciler.ts';
import { RequestTracks } from '../kubelet-serving/request-tracks.ts';
import type { Replaced } from './sabotage.ts';
import { beginAnew, sabotages } from './sabotage.ts';
import { type SimulationReport, type SimulationSettings, simulate } from './simulation.ts';

/**
 * ICHOR_SIMULATION_SEEDS says how many seeds to run, ICHOR_SEED which one comes first: with it alone
 * that one is run, and everything that happens is printed.
 */
const asked = process.env['ICHOR_SEED'];
const firstSeed = Number(asked ?? 1);
const seeds = Number(process.env['ICHOR_SIMULATION_SEEDS'] ?? (asked === undefined ? 4 : 1));
const isTraced = asked !== undefined && seeds === 1;
/** A world of one cluster, in which the operator is made to crash. */
const crashSeed = 5;
/** A sabotage has to be noticed within so many seeds. */
const seedsToNotice = 100;

const state = vi.hoisted(() => ({ nextUid: 0, replaced: {} as Replaced }));

vi.mock('node:crypto', async (original) => ({
  ...(await original<typeof import('node:crypto')>()),
  // A run is the same each time only if the uids of its objects are.
  randomUUID: () => {
    state.nextUid += 1;
    return `00000000-0000-4000-8000-${state.nextUid.toString(16).padStart(12, '0')}`;
  },
}));
vi.mock('../kubelet-serving/plan-decision.ts', (original) =>
  replaceable(original, ['planDecision']),
);
vi.mock('../kubelet-serving/node-identity.ts', (original) =>
  replaceable(original, ['identityOf', 'reservedIn']),
);
vi.mock('../kubelet-serving/act.ts', (original) => replaceable(original, ['actOn']));
vi.mock('../kubelet-serving/plan-readings.ts', (original) =>
  replaceable(original, ['planReadings']),
);
vi.mock('../kubelet-serving/plan-records.ts', (original) => replaceable(original, ['planRecord']));
vi.mock('../kubelet-serving/plan-turns.ts', (original) => replaceable(original, ['planTurns']));

/** The module with functions that ask at each call whether they are replaced. */
async function replaceable(
  original: () => Promise<unknown>,
  names: readonly string[],
): Promise<Record<string, unknown>> {
  const module = (await original()) as Record<string, unknown>;
  const wrapped = names.map((name) => {
    const own = module[name] as (...given: unknown[]) => unknown;
    const call = (...given: unknown[]) => {
      const wrap = state.replaced[name as 'planDecision'] as unknown;
      return wrap === undefined
        ? own(...given)
        : (wrap as (f: typeof own) => typeof own)(own)(...given);
    };
    return [name, call] as const;
  });
  return { ...module, ...Object.fromEntries(wrapped) };
}

/** Replaces what is no function of a module; the last tracks that were used are returned. */
function replaceMethods(replaced: Replaced): { readonly tracks: () => RequestTracks | undefined } {
  let last: RequestTracks | undefined;
  const { observe } = RequestTracks.prototype;
  vi.spyOn(RequestTracks.prototype, 'observe').mockImplementation(function (
    this: RequestTracks,
    undecided,
    now,
  ) {
    last = this;
    const kept = replaced.keepsTracks === true ? this.all().map(({ request }) => request) : [];
    const uids = new Set(undecided.map(({ uid }) => uid));
    observe.call(this, [...undecided, ...kept.filter(({ uid }) => !uids.has(uid))], now);
  });
  if (replaced.neverStops === true) {
    vi.spyOn(KubeletServingReconciler.prototype, 'stop').mockResolvedValue(undefined);
  }
  if (replaced.ignoresBlocks === true) {
    const { update } = KubeletServingReconciler.prototype;
    vi.spyOn(KubeletServingReconciler.prototype, 'update').mockImplementation(function (
      this: KubeletServingReconciler,
      view,
    ) {
      update.call(this, { ...view, blocked: undefined });
    });
  }
  return { tracks: () => last };
}

async function run(
  seed: number,
  replaced: Replaced = {},
  settings: SimulationSettings = {},
): Promise<SimulationReport> {
  beginAnew();
  state.nextUid = 0;
  state.replaced = replaced;
  const { tracks } = replaceMethods(replaced);
  return simulate(seed, {
    ...settings,
    atEnd: (world, monitor) => {
      const inUse = tracks();
      if (inUse === undefined) return;
      const known = inUse.all().length;
      const undecided = world.undecided();
      // What was decided a moment ago may not have been seen yet.
      if (known > undecided + 3) {
        monitor.violated('tracks-grow', `${known} of ${undecided} are remembered`);
      }
    },
  });
}

afterEach(() => {
  state.replaced = {};
  vi.restoreAllMocks();
});

describe('the operator', () => {
  it(
    `decides only what is true and comes to rest, from seed ${firstSeed} on`,
    async () => {
      const happened = new Map<string, number>();
      for (let seed = firstSeed; seed < firstSeed + seeds; seed += 1) {
        const report = await run(seed, {}, isTraced ? { trace: console.log } : {});
        expect(report.violations, `ICHOR_SEED=${seed} repeats this`).toEqual([]);
        for (const [kind, count] of [...report.counts, ...report.outcomes]) {
          happened.set(kind, (happened.get(kind) ?? 0) + count);
        }
        vi.restoreAllMocks();
      }
      if (seeds > 50) console.log(`${seeds} seeds`, Object.fromEntries([...happened].sort()));
      expect(happened.get('Approved IchorKubeletServing')).toBeGreaterThan(0);
    },
    20_000 + seeds * 5_000,
  );

  it('comes to rest after a crash at any call, before or after its effect', async () => {
    const settings = { calm: true } as const;
    const { firstCalls, violations } = await run(crashSeed, {}, settings);
    vi.restoreAllMocks();
    expect(violations).toEqual([]);
    expect(firstCalls).toBeGreaterThan(20);
    // In a long run every call; otherwise a few, different ones before and after.
    const step = seeds > 50 ? 1 : Math.ceil(firstCalls / 3);
    for (let call = 1; call <= firstCalls; call += step) {
      for (const crashAt of [
        { call, after: false },
        { call: Math.min(call + Math.floor(step / 2), firstCalls), after: true },
      ]) {
        const report = await run(crashSeed, {}, { ...settings, crashAt });
        vi.restoreAllMocks();
        expect(report.violations, JSON.stringify(crashAt)).toEqual([]);
        const crashes = [...report.counts].filter(([kind]) => kind.startsWith('crash '));
        expect(crashes, JSON.stringify(crashAt)).toHaveLength(1);
      }
    }
  }, 300_000);

  it('does the same again for the same seed', async () => {
    const trace = async () => {
      const lines: string[] = [];
      await run(3, {}, { trace: (line) => lines.push(line.replace(/[0-9a-f]{64}/, '')) });
      vi.restoreAllMocks();
      return lines.join('\n');
    };
    expect(await trace()).toBe(await trace());
  }, 30_000);
});

// Which seed notices a sabotage changes with the operator: that is looked for in long runs only.
if (seeds > 50) {
  describe('the simulation notices where', () => {
    it.each(sabotages)(
      '$name',
      async ({ replaced, breaks, settings, firstSeed: from = 1 }) => {
        let noticed: string | undefined;
        for (let seed = from; seed < from + seedsToNotice && noticed === undefined; seed += 1) {
          const { violations } = await run(seed, replaced, settings);
          vi.restoreAllMocks();
          noticed = violations.find((violation) => breaks.includes(violation.split(':')[0] ?? ''));
        }
        expect(noticed).toBeDefined();
      },
      120_000,
    );
  });
}
