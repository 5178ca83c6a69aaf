import { KubeError } from '@ichor/k8s-adapter';
import { describe, expect, it } from 'vitest';
import { ClusterStatusWriter, clusterStatusRetryMs } from './cluster-status-writer.ts';

describe('the status of a cluster', () => {
  it('is written again as it was, where a write in between failed but may have taken effect', async () => {
    let now = 0;
    let isLost = false;
    const stored: number[] = [];
    const writer = new ClusterStatusWriter(
      {
        applyClusterStatus: async (_name, { observedGeneration }) => {
          stored.push(observedGeneration);
          if (isLost) throw new KubeError('unavailable', 'The answer got lost.');
        },
      },
      { now: () => now },
      () => undefined,
    );
    const write = async (observedGeneration: number) => {
      now += clusterStatusRetryMs;
      await writer.write('lab', { observedGeneration, conditions: [] });
    };
    await write(1);
    await write(1);
    expect(stored).toEqual([1]);
    isLost = true;
    await write(2);
    isLost = false;
    await write(1);
    await write(1);
    expect(stored).toEqual([1, 2, 1]);
  });
});
