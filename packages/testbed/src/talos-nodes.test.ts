import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTalosNodes, type TalosNodes, tearingDown } from './talos-nodes.ts';

// Stands in for the Go program, which unit tests do not build: it notes what it is sent and answers as told.
const program = `#!${process.execPath}
const { createServer } = require('node:http');
const { appendFileSync } = require('node:fs');
let config = '';
process.stdin.setEncoding('utf8').on('data', (text) => {
  config += text;
  const { dir, nodes } = JSON.parse(config);
  if (nodes[0].name === 'refused') {
    console.error('talos-nodes serve: node refused: cannot listen');
    process.exit(1);
  }
  if (nodes[0].name === 'silent') return;
  createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => { body += chunk; });
    request.on('end', () => {
      appendFileSync(dir + '/requests', request.method + ' ' + request.url + ' ' + body + '\\n');
      if (request.url.includes('nowhere')) {
        response.writeHead(404, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error: 'no such node: "nowhere"' }));
      } else if (request.method === 'GET') {
        response.end(JSON.stringify({ calls: [], connections: { 'worker-1': 2 } }));
      } else {
        response.writeHead(204).end();
      }
    });
  }).listen(dir + '/control.sock', () => console.log('ready'));
});
process.stdin.on('end', () => process.exit(0));
`;

const worker = { name: 'worker-1', address: '10.5.0.21', machineType: 'worker' } as const;

describe('startTalosNodes', () => {
  let parent: string;
  let binary: string;
  let dir: string;
  let running: TalosNodes | undefined;

  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), 'talos-nodes-'));
    binary = join(parent, 'program.cjs');
    dir = join(parent, 'nodes');
    await writeFile(binary, program);
    await chmod(binary, 0o700);
  });

  afterEach(async () => {
    await running?.close();
    running = undefined;
    await rm(parent, { recursive: true });
  });

  it('sends each control as the request that the program documents', async () => {
    running = await startTalosNodes({ binary, dir, nodes: [worker] });
    await running.patch('worker-1', { nodeIPs: [], hostname: null, platform: tearingDown });
    await running.freeze('worker-1');
    await running.unfreeze('worker-1');
    await running.stop('worker-1');
    await running.start('worker-1');
    await running.certificate('worker-1', 'otherCA');
    await running.delay('worker-1', 20);
    await running.fail('worker-1', '*', 'UNAVAILABLE', { times: 2 });
    await running.addNode({ ...worker, name: 'worker-2', address: '10.5.0.22' });
    await running.counters('worker-1');
    await running.resetCounters();
    expect((await readFile(join(dir, 'requests'), 'utf8')).trimEnd().split('\n')).toEqual([
      'PATCH /nodes/worker-1 {"nodeIPs":[],"hostname":null,"platform":{"phase":"tearingDown"}}',
      'POST /nodes/worker-1/freeze ',
      'POST /nodes/worker-1/unfreeze ',
      'POST /nodes/worker-1/stop ',
      'POST /nodes/worker-1/start ',
      'PUT /nodes/worker-1/certificate {"mode":"otherCA"}',
      'PUT /nodes/worker-1/delay {"milliseconds":20}',
      'PUT /nodes/worker-1/failure {"type":"*","code":"UNAVAILABLE","times":2}',
      'POST /nodes {"name":"worker-2","address":"10.5.0.22","machineType":"worker"}',
      'GET /counters?node=worker-1 ',
      'DELETE /counters',
    ]);
  });

  it('resolves with what the program answers and rejects with its words', async () => {
    running = await startTalosNodes({ binary, dir, nodes: [worker] });
    expect((await running.counters()).connections).toEqual({ 'worker-1': 2 });
    await expect(running.freeze('nowhere')).rejects.toThrow(
      'Talos nodes: POST /nodes/nowhere/freeze failed: no such node: "nowhere".',
    );
  });

  it('keeps the directory to its owner and names talosconfigs in it', async () => {
    running = await startTalosNodes({ binary, dir, nodes: [worker] });
    expect((await stat(dir)).mode & 0o777).toBe(0o700);
    expect(running.talosconfig('etcd-backup')).toBe(join(dir, 'etcd-backup'));
  });

  it('ends the program on close, and only once', async () => {
    const nodes = await startTalosNodes({ binary, dir, nodes: [worker] });
    expect(process.kill(nodes.pid, 0)).toBe(true);
    await nodes.close();
    expect(() => process.kill(nodes.pid, 0)).toThrow('ESRCH');
    await nodes.close();
    await expect(nodes.freeze('worker-1')).rejects.toThrow(/freeze failed/);
  });

  it('says what the program said when it refuses the nodes', async () => {
    const refused = { ...worker, name: 'refused' };
    await expect(startTalosNodes({ binary, dir, nodes: [refused] })).rejects.toThrow(
      `${binary} did not start: it ended with exit code 1. It said: talos-nodes serve: node refused: cannot listen`,
    );
  });

  it('names the program when there is none', async () => {
    const missing = join(parent, 'missing');
    await expect(startTalosNodes({ binary: missing, dir, nodes: [worker] })).rejects.toThrow(
      `${missing} did not start: spawn ${missing} ENOENT`,
    );
  });

  it('does not wait for ever for a program that is never ready', async () => {
    const silent = { ...worker, name: 'silent' };
    await expect(
      startTalosNodes({ binary, dir, nodes: [silent], startTimeoutMs: 300 }),
    ).rejects.toThrow('it was not ready within 0.3 s');
  });
});
