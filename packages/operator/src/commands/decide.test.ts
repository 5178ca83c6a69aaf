import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { explain } from '@ichor/policy';
import {
  fakeClusterCertificates,
  nodeResources,
  startFakeTalosNode,
  talosconfigText,
} from '@ichor/talos-client/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { ichor } from '../testing/command-line.ts';
import {
  type DecisionVector,
  decisionVectors,
  decisionVectorsFile,
  vectorWith,
} from '../testing/decision-vectors.ts';

const directory = mkdtempSync(join(tmpdir(), 'ichor-decide-'));
afterAll(() => rmSync(directory, { recursive: true }));

let files = 0;
function file(content: unknown): string {
  files += 1;
  const path = join(directory, `${files}.json`);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const isRead = ({ node }: DecisionVector) => node.kind === 'read';
const approved = vectorWith((vector) => isRead(vector) && vector.expect.kind === 'approve');
const denied = vectorWith(
  (vector) => isRead(vector) && vector.expect.kind === 'deny' && vector.expect.reasons.length === 1,
);
const pending = vectorWith(({ expect }) => expect.reasons.includes('NodeUnreadable'));
const identityOf = ({ node }: DecisionVector) => {
  if (node.kind !== 'read') throw new Error('This vector has no identity.');
  return node.identity;
};
const decide = (vector: DecisionVector, ...more: readonly string[]) =>
  ichor(['decide', '--csr', file(vector.csr), '--identity', file(vector.node), ...more]);

describe('ichor decide', () => {
  it('ends with 0 for an approval and shows what every name rests on', async () => {
    const { code, out, err } = await decide(approved);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const { nodeName } = identityOf(approved);
    expect(out).toContain(`approve: every name belongs to node ${nodeName}\n  DNS ${nodeName}  (`);
    expect(out).not.toMatch(/^[✗·]/m);
  });

  it('ends with 1 for a denial and marks the rules that are violated, no others', async () => {
    const { code, out } = await decide(denied);
    const [reason = ''] = denied.expect.reasons;
    expect(code).toBe(1);
    expect(out).toContain(`\ndeny: ${reason}\n`);
    const marked = out.split('\n').filter((line) => line.startsWith('✗'));
    expect(marked.map((line) => line.split(/\s+/)[1])).toEqual([reason]);
  });

  it('ends with 2 for a request that waits, and says why the names were not judged', async () => {
    const { code, out } = await decide(pending);
    expect(code).toBe(2);
    expect(out).toContain('\npending: NodeUnreadable: ');
    expect(out).toContain('→ not judged: The node could not be read');
  });

  it.each<[string, (text: string) => unknown]>([
    ['json', JSON.parse],
    ['yaml', parse],
  ])('prints with -o %s what explain says', async (form, read) => {
    for (const vector of [approved, denied, pending]) {
      const { out } = await decide(vector, '-o', form);
      const explanation = explain(vector.csr, vector.node);
      expect(read(out)).toEqual(JSON.parse(JSON.stringify(explanation)));
    }
  });

  it('takes a bare identity as read', async () => {
    const args = ['--csr', file(approved.csr), '--identity', file(identityOf(approved))];
    expect(await ichor(['decide', ...args])).toEqual(await decide(approved));
  });

  it('takes what kubectl prints: YAML, and a list of one', async () => {
    const whole = { ...approved.csr, status: {} };
    const { metadata } = approved.csr as unknown as { metadata: object };
    const stored = { ...whole, metadata: { ...metadata, resourceVersion: '1', managedFields: [] } };
    for (const content of [
      stringify(stored),
      stringify({ apiVersion: 'v1', kind: 'List', items: [stored] }),
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [stored] }),
    ]) {
      const args = ['--csr', file(content), '--identity', file(approved.node)];
      expect(await ichor(['decide', ...args])).toEqual(await decide(approved));
    }
  });

  it.each(['--csr', '--identity'])('reads %s from standard input where it is -', async (flag) => {
    const paths = { '--csr': file(approved.csr), '--identity': file(approved.node), [flag]: '-' };
    const stdin = JSON.stringify(flag === '--csr' ? approved.csr : approved.node);
    const { code } = await ichor(['decide', ...Object.entries(paths).flat()], { stdin });
    expect(code).toBe(0);
  });

  it('takes YAML with an anchor that is used', async () => {
    const content = `${stringify(identityOf(approved))}\n`.replace(
      /^nodeName: (\S+)/m,
      'nodeName: &name $1',
    );
    const used = content.replace(
      /value: (\S+)\n(\s+)source: Nodename/,
      'value: *name\n$2source: Nodename',
    );
    expect(used).toContain('*name');
    const args = ['--csr', file(approved.csr), '--identity', file(used)];
    expect(await ichor(['decide', ...args])).toEqual(await decide(approved));
  });

  it('leaves a name that is nobody’s pending where it is asked to', async () => {
    const stranger = vectorWith(
      (vector) => isRead(vector) && vector.expect.reasons.join() === 'DnsNameNotOfNode',
    );
    expect((await decide(stranger, '--unknown-names', 'deny')).out).toContain(
      'deny: DnsNameNotOfNode',
    );
    const { code, out } = await decide(stranger, '--unknown-names', 'pending');
    expect(code).toBe(2);
    expect(out).toContain('pending: NameUnverified: ');
  });

  it('judges the lifetime by the longest one that is given', async () => {
    const { csr } = approved;
    const asking = { ...approved, csr: { ...csr, spec: { ...csr.spec, expirationSeconds: 3600 } } };
    expect((await decide(asking, '--max-expiration-seconds', '3600')).code).toBe(0);
    const { code, out } = await decide(asking, '--max-expiration-seconds', '3599');
    expect(code).toBe(1);
    expect(out).toContain('3599');
  });
});

describe('ichor decide --vectors', () => {
  it('finds no difference in the vectors of the policy', async () => {
    expect(await ichor(['decide', '--vectors', decisionVectorsFile])).toEqual({
      code: 0,
      out: `${decisionVectors.length} vectors, 0 differences\n`,
      err: '',
    });
    expect(decisionVectors.length).toBeGreaterThan(500);
  });

  it('names the vector whose verdict or reasons are others, and says both', async () => {
    const verdict = { ...approved, expect: denied.expect };
    const reason = { ...denied, expect: { kind: 'deny', reasons: ['NameReserved'] } };
    const path = file([approved, verdict, reason]);
    const { code, out } = await ichor(['decide', '--vectors', path]);
    const [was = ''] = denied.expect.reasons;
    expect(code).toBe(1);
    expect(out.split('\n')).toEqual([
      `${approved.id}: expected deny ${was}, found approve`,
      `${denied.id}: expected deny NameReserved, found deny ${was}`,
      '3 vectors, 2 differences',
      '',
    ]);
    const report = await ichor(['decide', '--vectors', path, '-o', 'json']);
    expect(report.code).toBe(1);
    expect(JSON.parse(report.out)).toMatchObject({
      count: 3,
      differences: [expect.stringContaining(approved.id), expect.stringContaining(denied.id)],
    });
  });

  it.each([
    [{}, ' is no JSON array of vectors.'],
    [['x'], ': element 0 is no vector: the element: '],
    [[{ ...approved, expect: { kind: 'maybe', reasons: [] } }], 'element 0 is no vector: expect.'],
    [[{ ...approved, id: '\u001b[2J' }], 'element 0 is no vector: id: must be printable ASCII'],
    [[approved, { ...approved, node: {} }], `${approved.id} is no node identity: nodeName: `],
  ])('says what is wrong with a file of other things: %#', async (content, sentence) => {
    const path = file(content);
    const { code, out, err } = await ichor(['decide', '--vectors', path]);
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toContain(path);
    expect(err).toContain(sentence);
  });

  it.each([
    ['--csr', 'x'],
    ['--identity', 'x'],
    ['--node', 'x'],
    ['--talosconfig', 'x'],
    ['--reserved', 'x'],
    ['--control-plane'],
    ['--unknown-names', 'deny'],
    ['--max-expiration-seconds', '60'],
  ])('refuses %s beside it: vectors say that themselves', async (...flag) => {
    const { code, err } = await ichor(['decide', '--vectors', decisionVectorsFile, ...flag]);
    expect(code).toBe(64);
    expect(err).toBe(
      'ichor decide: --vectors stands alone: leave all other flags but --output out.\n',
    );
  });
});

describe('ichor decide with a live node', () => {
  const cluster = fakeClusterCertificates();
  const worker = {
    nodeName: 'worker-1',
    domainname: 'lab.example',
    nodeIps: ['10.5.0.11', 'fd00:5::11'],
  };
  // Nothing listens there, so the node is asked through the endpoint of the talosconfig.
  const address = '127.255.0.1';

  async function withEndpoint<T>(
    node: typeof worker & { readonly excludeSubnets?: readonly string[] },
    use: (talosconfig: string) => Promise<T>,
  ): Promise<T> {
    const endpoint = await startFakeTalosNode({
      clientCa: cluster.authority.crt,
      certificate: cluster.serverCertificate('127.0.0.1'),
      forwardsTo: new Map([[address, nodeResources(node)]]),
    });
    try {
      return await use(file(talosconfigText(cluster.access(`127.0.0.1:${endpoint.port}`))));
    } finally {
      await endpoint.stop();
    }
  }
  const ask = (talosconfig: string, ...more: readonly string[]) => [
    'decide',
    '--csr',
    file(approved.csr),
    '--node',
    address,
    ...(talosconfig === '' ? [] : ['--talosconfig', talosconfig]),
    ...more,
  ];

  it('judges by what the node says, with the credentials of $TALOSCONFIG where no file is named', async () => {
    await withEndpoint(worker, async (talosconfig) => {
      const named = await ichor(ask(talosconfig));
      expect(named.out).toContain('approve: every name belongs to node worker-1');
      expect(named.code).toBe(0);
      expect(await ichor(ask(''), { env: { TALOSCONFIG: talosconfig } })).toEqual(named);
    });
    const lesser = { ...worker, nodeIps: ['10.5.0.12'] };
    await withEndpoint(lesser, async (talosconfig) => {
      const { code, out } = await ichor(ask(talosconfig));
      expect(code).toBe(1);
      expect(out).toContain('deny: IpAddressNotOfNode');
    });
  });

  it('denies what is reserved, by a flag or by a control plane itself', async () => {
    await withEndpoint(worker, async (talosconfig) => {
      for (const entry of ['10.5.0.11', '10.5.0.0/24', 'worker-1']) {
        const { code, out } = await ichor(ask(talosconfig, '--reserved', entry));
        expect(code).toBe(1);
        expect(out).toContain('deny: NameReserved');
      }
    });
    const controlPlane = { ...worker, excludeSubnets: ['10.5.0.0/24'] };
    await withEndpoint(controlPlane, async (talosconfig) => {
      expect((await ichor(ask(talosconfig))).code).toBe(0);
      expect((await ichor(ask(talosconfig, '--control-plane'))).out).toContain(
        'deny: NameReserved',
      );
    });
  });

  it('leaves the request pending where the node does not answer, and names it', async () => {
    const talosconfig = file(talosconfigText(cluster.access()));
    const { code, out } = await ichor(ask(talosconfig));
    expect(code).toBe(2);
    expect(out).toContain('pending: NodeUnreadable: The node could not be read');
    expect(out).toContain(address);
  });

  it('refuses credentials that it cannot use', async () => {
    const missing = await ichor(ask('/nonexistent/talosconfig'));
    expect(missing.code).toBe(64);
    expect(missing.err).toContain('/nonexistent/talosconfig does not exist');
    const talosconfig = file(talosconfigText(cluster.access('127.0.0.1')));
    const context = await ichor(ask(talosconfig, '--context', 'other'));
    expect(context.code).toBe(64);
    expect(context.err).toContain(talosconfig);
    expect(context.err).toContain('other');
    expect((await ichor(ask(''))).err).toContain('--talosconfig is missing');
  });
});

/** Nine lists, each of nine times the one before. */
const aliasBomb = Array.from({ length: 9 }, (_, i) => {
  const items = Array.from({ length: 9 }, () => (i === 0 ? 'x' : `*a${i - 1}`));
  return `a${i}: &a${i} [${items.join(', ')}]`;
}).join('\n');

describe('ichor decide refuses', () => {
  const csr = file(approved.csr);
  const identity = file(approved.node);

  it.each<[string, readonly string[], string]>([
    ['no request', ['--identity', identity], '--csr is missing'],
    ['no node', ['--csr', csr], 'give either --identity FILE, or --talosconfig FILE with --node'],
    [
      'two nodes',
      ['--csr', csr, '--identity', identity, '--node', '10.5.0.11'],
      'give either --identity FILE, or --talosconfig FILE with --node',
    ],
    ['an empty node', ['--csr', csr, '--node', ''], '--node is empty'],
    [
      'reserved names of a node that is not asked',
      ['--csr', csr, '--identity', identity, '--reserved', '10.5.0.100'],
      '--reserved is about a live node',
    ],
    [
      'credentials for a node that is not asked',
      ['--csr', csr, '--identity', identity, '--talosconfig', 'x'],
      '--talosconfig is about a live node',
    ],
    ['standard input twice', ['--csr', '-', '--identity', '-'], 'only one of --csr and --identity'],
    ['a flag twice', ['--csr', csr, '--csr', csr], '--csr is given twice'],
    ['a flag without its value', ['--csr'], "'--csr <value>' argument missing; see"],
    [
      'another form of output',
      ['--csr', csr, '--identity', identity, '-o', 'xml'],
      '--output is "xml"; it must be table or json or yaml.',
    ],
    [
      'another mode',
      ['--csr', csr, '--identity', identity, '--unknown-names', 'allow'],
      '--unknown-names is "allow"; it must be deny or pending.',
    ],
    ...['0', '-1', '1.5', '1h', ''].map((seconds): [string, readonly string[], string] => [
      `the lifetime ${JSON.stringify(seconds)}`,
      ['--csr', csr, '--identity', identity, `--max-expiration-seconds=${seconds}`],
      `--max-expiration-seconds is ${JSON.stringify(seconds)}; it must be a number of seconds.`,
    ]),
    [
      'a file that is not there',
      ['--csr', '/nonexistent', '--identity', identity],
      '/nonexistent does not exist',
    ],
    [
      'a directory',
      ['--csr', directory, '--identity', identity],
      `${directory} cannot be read (EISDIR)`,
    ],
  ])('%s', async (_, args, sentence) => {
    const { code, out, err } = await ichor(['decide', ...args]);
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toMatch(/^ichor decide: .*\.\n$/);
    expect(err).toContain(sentence);
  });

  it.each<[string, unknown, string]>([
    ['no YAML', 'a: [1\nb: 2', ' is neither YAML nor JSON of one document: '],
    ['two documents', 'a: 1\n---\nb: 2\n', ' is neither YAML nor JSON of one document: '],
    ['a text', '"text"', ' holds no object'],
    ['another kind', { kind: 'Pod', spec: {} }, ' holds a Pod; give a CertificateSigningRequest'],
    [
      'a kind that is no text',
      { kind: { toString: 1 }, spec: {} },
      ' holds another kind of object; ',
    ],
    ['a kind for the terminal', { kind: '\u001b[2J\n', spec: {} }, ' holds a \\u{1b}[2J\\u{a}; '],
    ['an alias without anchor', 'spec: *nothing', ' has YAML aliases that cannot be resolved; '],
    [
      'a key twice',
      'spec: {}\nspec: {}',
      ' is neither YAML nor JSON of one document: Map keys must be unique at line 2, column 1.',
    ],
    ['aliases that multiply', aliasBomb, ' has YAML aliases that cannot be resolved; '],
    [
      'more aliases than a person writes',
      `a: &a x\nspec: [${'*a, '.repeat(101)}]`,
      ' is neither YAML nor JSON of one document: More than 100 aliases are not supported at line 2',
    ],
    [
      'brackets without an end',
      '[ '.repeat(50_000),
      ' is neither YAML nor JSON of one document: Maximum call stack size exceeded at line 1',
    ],
    // Each of these took minutes when time grew with the square of the length.
    [
      'many errors',
      '{]'.repeat(20_000),
      ' is neither YAML nor JSON of one document: Flow map must end with a } at line 1, column 2.',
    ],
    [
      'many keys',
      Array.from({ length: 20_000 }, (_, i) => `k${i}: x`).join('\n'),
      ' has no spec; ',
    ],
    ['no spec', { kind: 'CertificateSigningRequest' }, ' has no spec'],
    ['two requests', { items: [approved.csr, denied.csr] }, ' is a list of 2 objects'],
    ['no requests', { items: [] }, ' is a list of 0 objects'],
  ])('a file with %s instead of a request', async (_, content, sentence) => {
    const path = file(content);
    const { code, out, err } = await ichor(['decide', '--csr', path, '--identity', identity]);
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toContain(`ichor decide: ${path}${sentence}`);
  });

  it.each<[string, unknown, string]>([
    ['another kind', { kind: 'gone' }, 'kind: '],
    ['a name that is none', { ...identityOf(approved), nodeName: '' }, 'nodeName: '],
    [
      'a source that is none',
      { ...identityOf(approved), dnsNames: [{ value: 'a', source: 'me' }] },
      'dnsNames.0.source: ',
    ],
    ['a misspelt field', { ...identityOf(approved), reservd: {} }, 'the document: '],
    ['a text', '"text"', 'the document: '],
  ])('a file with %s instead of an identity', async (_, content, field) => {
    const path = file(content);
    const { code, out, err } = await ichor(['decide', '--csr', csr, '--identity', path]);
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toContain(`ichor decide: ${path} is no node identity: ${field}`);
  });
});
