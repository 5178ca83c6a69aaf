import type { TalosCluster } from '@ichor/k8s-adapter';
import { parseTalosCluster } from '@ichor/k8s-adapter';
import { describe, expect, it } from 'vitest';
import type { OperationalState } from './plan-conditions.ts';
import { type OperationalSnapshot, planOperational } from './plan-operational.ts';

function cluster(spec: Readonly<Record<string, unknown>> = {}): TalosCluster {
  const parsed = parseTalosCluster({
    apiVersion: 'ichor.dev/v1alpha1',
    kind: 'TalosCluster',
    metadata: { name: 'lab', uid: 'uid-lab', generation: 1, resourceVersion: '1' },
    spec: {
      security: { kubeletServingCertificates: { enabled: true } },
      kubernetes: { endpoint: 'https://api.lab.example:6443' },
      reserved: { subnets: ['10.96.0.0/12'] },
      ...spec,
    },
  });
  if (parsed.kind === 'invalid') throw new Error(parsed.value.problem);
  return parsed.value;
}

const server = 'https://10.5.0.2:6443';
const state = (reason: OperationalState['reason'], message: string): OperationalState => ({
  status: 'False',
  reason,
  message,
});
const blocked = state('SharedApiServer', 'two of them');
const notice = state('InvalidObject', 'mend it');

function plan(
  changes: Partial<OperationalSnapshot> = {},
  view: Partial<OperationalSnapshot['view']> = {},
): OperationalState {
  return planOperational({
    view: { cluster: cluster(), machines: [], blocked: undefined, notice: undefined, ...view },
    machines: [],
    server,
    synced: true,
    watchFailure: undefined,
    refused: undefined,
    ...changes,
  });
}

describe('whether requests are decided', () => {
  it('they are, where nothing stands against it', () => {
    expect(plan()).toEqual({
      status: 'True',
      reason: 'Deciding',
      message: 'Requests are decided.',
    });
  });

  it('they are without a stated endpoint, and the message says what is taken for it', () => {
    expect(plan({}, { cluster: cluster({ kubernetes: {} }) })).toEqual({
      status: 'True',
      reason: 'EndpointNotStated',
      message: expect.stringContaining(server),
    });
  });

  it('they are not without reserved ranges', () => {
    expect(plan({}, { cluster: cluster({ reserved: {} }) })).toMatchObject({
      status: 'False',
      reason: 'ReservedRangesUnknown',
      message: expect.stringContaining('spec.reserved.subnets'),
    });
  });

  it('they are not while they cannot be listed, and the message says why', () => {
    expect(plan({ synced: false, watchFailure: 'connection refused' })).toEqual(
      state(
        'ApiServerUnreachable',
        `The requests at ${server} are not listed yet: connection refused`,
      ),
    );
    expect(plan({ synced: false }).message).toMatch(/the first list is on its way$/);
  });

  it('a broken watch behind a list is no reason: what was listed is decided', () => {
    expect(plan({ watchFailure: 'connection refused' }).reason).toBe('Deciding');
  });

  it('they are not where the write was refused, and the message says what to apply', () => {
    expect(plan({ refused: 'Forbidden.' })).toEqual(
      state(
        'ApiServerRefuses',
        "Forbidden. Apply the output of 'ichor manifests --only crds,rbac'.",
      ),
    );
  });

  it('the reason that hides the others is said', () => {
    const everything = { refused: 'Forbidden.', synced: false } as const;
    const view = { cluster: cluster({ kubernetes: {}, reserved: {} }), notice } as const;
    expect(plan(everything, { ...view, blocked })).toEqual(blocked);
    expect(plan(everything, view).reason).toBe('ApiServerRefuses');
    expect(plan({ synced: false }, view).reason).toBe('ApiServerUnreachable');
    expect(plan({}, view)).toEqual(notice);
    expect(plan({}, { ...view, notice: undefined }).reason).toBe('ReservedRangesUnknown');
  });
});
