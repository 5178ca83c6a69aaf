import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TalosClient } from '../talos-client.ts';
import { TalosError, type TalosErrorCode } from '../talos-error.ts';
import type { InMemoryNode, NodeFault } from './in-memory-talos.ts';

/** A client and the one node it can reach, with the controls that the suite needs. */
export interface TalosClientSubject {
  readonly client: TalosClient;
  /** Address of the node. */
  readonly address: string;
  setNode(node: InMemoryNode): Promise<void>;
  setFault(fault: NodeFault | undefined): Promise<void>;
  stop(): Promise<void>;
}

const worker: InMemoryNode = {
  nodeName: 'my-node',
  nodeIps: ['10.5.0.21', 'fd00::21'],
  hostname: 'MY_Node_',
  domainname: 'example.org',
  externalAddresses: ['203.0.113.21'],
  platformNames: ['w1.cloud', 'w1.internal', 'w1.example.com'],
  excludeSubnets: ['10.244.0.0/16', '10.5.0.100'],
};

const codes: Readonly<Record<NodeFault, TalosErrorCode>> = {
  unreachable: 'unreachable',
  frozen: 'deadline',
  denied: 'denied',
  untrusted: 'unauthenticated',
  notFound: 'notFound',
  protocol: 'protocol',
};

/** What every `TalosClient` does, the real one as well as the one in memory. */
export function describeTalosClient(
  name: string,
  start: (node: InMemoryNode) => Promise<TalosClientSubject>,
): void {
  describe(`${name} as a TalosClient`, () => {
    let subject: TalosClientSubject;
    beforeEach(async () => {
      subject = await start(worker);
    });
    afterEach(() => subject.stop());

    const read = (controlPlane: boolean) =>
      subject.client.readNodeFacts({ address: subject.address, controlPlane });

    const failure = async (controlPlane = false): Promise<TalosError> => {
      const outcome = await read(controlPlane).catch((error: unknown) => error);
      expect(outcome).toBeInstanceOf(TalosError);
      return outcome as TalosError;
    };

    it('reports everything a worker says, and no reserved ranges', async () => {
      expect(await read(false)).toStrictEqual({
        nodeName: 'my-node',
        nodeIps: ['10.5.0.21', 'fd00::21'],
        hostname: 'MY_Node_',
        domainname: 'example.org',
        externalAddresses: ['203.0.113.21'],
        platformNames: ['w1.cloud', 'w1.internal', 'w1.example.com'],
        excludeSubnets: undefined,
        route: 'direct',
      });
    });

    it('reports the reserved ranges of a control plane', async () => {
      expect((await read(true)).excludeSubnets).toStrictEqual(['10.244.0.0/16', '10.5.0.100']);
    });

    it('fails a control plane without NodeIPConfig, which a worker does not need', async () => {
      await subject.setNode({ nodeName: 'my-node', nodeIps: ['10.5.0.21'] });
      expect(await failure(true)).toMatchObject({
        code: 'notFound',
        message: expect.stringContaining('NodeIPConfig'),
      });
      expect((await read(false)).nodeName).toBe('my-node');
    });

    it('takes absent cloud data for none', async () => {
      await subject.setNode({ nodeName: 'my-node', nodeIps: ['10.5.0.21'] });
      const facts = await read(false);
      expect(facts.platformNames).toStrictEqual([]);
      expect(facts.externalAddresses).toStrictEqual([]);
      expect(facts.domainname).toBe('');
    });

    it('reads anew every time', async () => {
      expect((await read(false)).nodeIps).toStrictEqual(['10.5.0.21', 'fd00::21']);
      await subject.setNode({ ...worker, nodeIps: ['10.5.0.22'] });
      expect((await read(false)).nodeIps).toStrictEqual(['10.5.0.22']);
    });

    it.each(Object.entries(codes) as [NodeFault, TalosErrorCode][])(
      'says of a node that is %s: %s, and reads it once it is well',
      async (fault, code) => {
        await subject.setFault(fault);
        const error = await failure();
        expect(error.code).toBe(code);
        expect(error.target).toBe(subject.address);
        expect(error.message).toContain(subject.address);
        await subject.setFault(undefined);
        expect((await read(false)).nodeName).toBe('my-node');
      },
    );

    it('ends reads in flight when it is closed, and begins no others', async () => {
      await subject.setFault('frozen');
      const inFlight = failure();
      subject.client.close();
      expect((await inFlight).code).toBe('unreachable');
      expect((await failure()).message).toContain('closed');
    });
  });
}
