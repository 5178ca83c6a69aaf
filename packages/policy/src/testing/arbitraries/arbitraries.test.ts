import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { denyReasons, pendingReasons } from '../../rules/reasons.ts';
import { faultTable } from '../faults/fault-table.ts';
import { mayBeCertified, seenByPkijs } from '../laws/permission-oracle.ts';
import { honestRequests } from './honest-requests.ts';
import { hostileBytes } from './hostile-bytes.ts';
import { identities } from './identities.ts';
import { nearMissCases } from './near-misses.ts';

// Keys are made on first use, which takes seconds on a busy machine.
const slow = { timeout: 120_000 };
const sample = { seed: 5, numRuns: 120 };

describe('the fault table', () => {
  it('has a fault for every reason but the one that no request earns', () => {
    const earned = new Set<string>(faultTable.flatMap(({ expect: wanted }) => wanted.reasons));
    const all = [...Object.keys(denyReasons), ...Object.keys(pendingReasons)];
    expect(all.filter((reason) => !earned.has(reason))).toEqual(['ParsersDisagree']);
  });

  it('names every fault once', () => {
    const names = faultTable.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
  });
});

describe('identities', slow, () => {
  it('hold nothing that is shared, but for configured names', () => {
    fc.assert(
      fc.property(identities(), ({ dnsNames, ipAddresses, others }) => {
        const own = [...dnsNames, ...ipAddresses].filter(({ source }) => source !== 'Configured');
        const theirs = others.flatMap((other) => [...other.dnsNames, ...other.ipAddresses]);
        const held = new Set(theirs.map(({ value }) => value.toLowerCase()));
        expect(own.filter(({ value }) => held.has(value.toLowerCase()))).toEqual([]);
      }),
      sample,
    );
  });

  it('differ in families, neighbours and sources', () => {
    const some = fc.sample(identities(), sample);
    const sources = some.flatMap((one) =>
      [...one.dnsNames, ...one.ipAddresses, ...one.subnets].map(({ source }) => source),
    );
    expect(new Set(sources).size).toBe(6);
    expect(new Set(some.map(({ others }) => others.length)).size).toBe(5);
    const families = some.map(({ ipAddresses }) =>
      [...new Set(ipAddresses.map(({ value }) => (value.includes(':') ? 6 : 4)))].sort().join(),
    );
    expect([...new Set(families)].sort()).toEqual(['4', '4,6', '6']);
  });
});

describe('honestRequests', slow, () => {
  it('ask for what a plain model of the rules grants', () => {
    fc.assert(
      fc.property(honestRequests(), ({ csr, identity }) => {
        const { names, otherEntries } = seenByPkijs(csr);
        expect(otherEntries).toBe(0);
        expect(names.length).toBeGreaterThan(0);
        expect(names.filter((name) => !mayBeCertified(name, identity))).toEqual([]);
      }),
      sample,
    );
  });
});

describe('nearMisses', slow, () => {
  it('differ from the honest case that they are made from', () => {
    fc.assert(
      fc.property(nearMissCases(), (parts) => {
        const { honest, changes, reading, options } = parts;
        expect({ changes, reading, options }).not.toEqual({
          changes: honest.changes,
          reading: honest.reading,
          options: honest.options,
        });
      }),
      sample,
    );
  });
});

describe('hostileBytes', slow, () => {
  it('hold noise, PEM and DER', () => {
    const some = fc.sample(hostileBytes(), sample);
    const pem = some.filter((bytes) => Buffer.from(bytes).toString('latin1').includes('BEGIN'));
    expect(pem.length).toBeGreaterThan(60);
    expect(pem.length).toBeLessThan(some.length);
  });
});
