import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ConnectionSettings } from './http-transport.ts';
import { KubeError } from './kube-error.ts';
import {
  failure,
  json,
  reset,
  type ScriptedAnswer,
  ScriptedApiServer,
  silence,
} from './testing/loopback/scripted-api-server.ts';

let server: ScriptedApiServer;
let pauses: number[];
const close: (() => void)[] = [];

beforeEach(async () => {
  server = await ScriptedApiServer.start();
  pauses = [];
});

afterEach(async () => {
  for (const end of close.splice(0)) end();
  await server.stop();
});

function connect(settings: ConnectionSettings = {}) {
  const connection = server.connect({
    random: () => 0.5,
    wait: async (milliseconds) => void pauses.push(milliseconds),
    ...settings,
  });
  close.push(() => connection.close());
  return connection;
}

const read = { method: 'GET', path: '/api/v1/things/a', what: 'Reading the thing a' } as const;
const write = {
  method: 'PUT',
  path: '/api/v1/things/a',
  what: 'Writing the thing a',
  body: '{"a":1}',
} as const;
const create = { ...write, method: 'POST' } as const;

describe('connections', () => {
  it('are kept: many requests one after another use one', async () => {
    server.others = [json({})];
    const connection = connect();
    for (let count = 0; count < 20; count += 1) await connection.request(read);
    expect(server.requests).toHaveLength(20);
    expect(server.connections).toBe(1);
  });

  it('are few: many requests at once share as many as were allowed', async () => {
    server.others = [(request, response) => void setTimeout(() => json({})(request, response), 2)];
    const connection = connect({ connections: 3 });
    await Promise.all(Array.from({ length: 30 }, () => connection.request(read)));
    expect(server.requests).toHaveLength(30);
    expect(server.connections).toBe(3);
  });

  it('carry the token, the body and its type', async () => {
    server.others = [json({})];
    await connect().request(write);
    const [arrived] = server.requests;
    expect(arrived).toMatchObject({ method: 'PUT', body: '{"a":1}' });
    expect(arrived?.headers).toMatchObject({
      authorization: 'Bearer secret-token',
      'content-type': 'application/json',
      'content-length': '7',
      accept: 'application/json',
    });
  });
});

describe('a read', () => {
  it.each([
    ['a reset', reset],
    ['HTTP 500', failure(500, 'no')],
    ['HTTP 503', failure(503, 'no')],
    ['HTTP 429', failure(429, 'no')],
  ])('is repeated after %s, each time after a longer pause', async (_name, broken) => {
    server.others = [broken, broken, json({ fine: true })];
    const answer = await connect().request(read);
    expect(JSON.parse(answer.body)).toEqual({ fine: true });
    expect(pauses).toEqual([125, 250]);
  });

  it('fails with what the server says after four tries', async () => {
    server.others = [failure(500, 'etcd is gone')];
    const failed = connect().request(read);
    await expect(failed).rejects.toMatchObject({
      code: 'unavailable',
      status: 500,
      message: 'Reading the thing a failed with HTTP 500: etcd is gone; it will be tried again.',
    });
    expect(server.requests).toHaveLength(4);
  });

  it('is not repeated after an answer that a repeat would not change', async () => {
    server.others = [failure(404, 'things "a" not found', 'NotFound')];
    await expect(connect().request(read)).rejects.toMatchObject({ code: 'notFound' });
    expect(server.requests).toHaveLength(1);
  });

  it('ends at its deadline, and says which server did not answer', async () => {
    server.others = [silence];
    const failed = connect({ requestTimeoutMs: 300, attempts: 2 }).request(read);
    await expect(failed).rejects.toMatchObject({
      code: 'unavailable',
      message: `Reading the thing a failed: ${server.url}/ does not answer (no answer within 0.3 s); check the address and the network, it will be tried again.`,
    });
    expect(server.requests).toHaveLength(2);
  });

  it('ends at its deadline also where the answer begins and does not end', async () => {
    server.others = [
      (_request, response) => {
        response.writeHead(200, { 'Content-Length': '100' });
        response.write('{');
      },
    ];
    const failed = connect({ requestTimeoutMs: 40, attempts: 1 }).request(read);
    await expect(failed).rejects.toThrow('no answer within 0.04 s');
  });

  it('is refused where the answer is larger than permitted, without a repeat', async () => {
    server.others = [json({ text: 'x'.repeat(2000) })];
    const failed = connect({ maxAnswerBytes: 1000 }).request(read);
    await expect(failed).rejects.toThrow('larger than 1000 bytes');
    expect(server.requests).toHaveLength(1);
    await expect(connect({ maxAnswerBytes: 3000 }).request(read)).resolves.toBeDefined();
  });
});

describe('a write', () => {
  it.each([
    ['429', failure(429, 'no', '', { 'Retry-After': '2' })],
    ['503 with Retry-After', failure(503, 'no', '', { 'Retry-After': '2' })],
  ])('is repeated after %s, as late as the server asks', async (_name, refusal) => {
    server.others = [refusal, json({})];
    await connect().request(write);
    expect(server.requests.map(({ body }) => body)).toEqual(['{"a":1}', '{"a":1}']);
    expect(pauses).toEqual([2125]);
  });

  it.each([
    ['HTTP 500', failure(500, 'no')],
    ['503 without Retry-After', failure(503, 'no')],
    ['a reset of a new connection', reset],
    ['silence', silence],
  ])('is not repeated after %s: it may have been done', async (_name, broken) => {
    server.others = [broken, json({})];
    const failed = connect({ requestTimeoutMs: 400 }).request(write);
    await expect(failed).rejects.toMatchObject({ code: 'unavailable' });
    expect(server.requests).toHaveLength(1);
  });

  it('is repeated once on a fresh connection where the kept one was closed', async () => {
    server.others = [json({}), reset, json({ second: true })];
    const connection = connect();
    await connection.request(read);
    expect(JSON.parse((await connection.request(write)).body)).toEqual({ second: true });
    expect(server.connections).toBe(2);
  });

  it('that creates is not repeated on a fresh connection', async () => {
    server.others = [json({}), reset, json({})];
    const connection = connect();
    await connection.request(read);
    await expect(connection.request(create)).rejects.toMatchObject({ code: 'unavailable' });
    expect(server.requests).toHaveLength(2);
  });

  it('gives the wait to the caller where the server asks for a long one', async () => {
    server.others = [failure(429, 'no', '', { 'Retry-After': '120' })];
    await expect(connect().request(write)).rejects.toMatchObject({
      code: 'unavailable',
      retryAfterMs: 120_000,
    });
    expect(server.requests).toHaveLength(1);
  });
});

describe('an answer that is no success', () => {
  it.each([
    [400, '', 'invalid'],
    [401, 'Unauthorized', 'forbidden'],
    [403, 'Forbidden', 'forbidden'],
    [404, 'NotFound', 'notFound'],
    [409, 'Conflict', 'conflict'],
    [409, 'AlreadyExists', 'exists'],
    [410, 'Expired', 'gone'],
    [422, 'Invalid', 'invalid'],
    [504, 'Timeout', 'unavailable'],
  ] as const)('HTTP %i %s is %s', async (status, reason, code) => {
    server.others = [failure(status, 'the message', reason)];
    const failed = await connect({ attempts: 1 })
      .request(write)
      .catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(KubeError);
    expect(failed).toMatchObject({ code, status });
    expect(String(failed)).toContain(
      `Writing the thing a failed with HTTP ${status}: the message; `,
    );
  });

  it('is told on one line of bounded length, whatever it holds', async () => {
    const hostile = `first\nsecond \u001b[31m${'x'.repeat(5000)}`;
    const answers: ScriptedAnswer[] = [
      failure(400, hostile),
      (_r, response) => response.writeHead(400).end(hostile),
    ];
    for (const answer of answers) {
      server.others = [answer];
      const failed = await connect()
        .request(read)
        .catch((error: unknown) => String(error));
      expect(failed).toContain('first second [31mxxx');
      expect(failed).not.toMatch(/\p{Cc}/u);
      expect(String(failed).length).toBeLessThan(450);
    }
  });
});

describe('the rate of requests', () => {
  it('is bounded, repeats counted', async () => {
    server.others = [json({})];
    const connection = connect({ requestsPerSecond: 50, burst: 2 });
    const begun = performance.now();
    await Promise.all(Array.from({ length: 5 }, () => connection.request(read)));
    // Two at once, the other three 20 ms apart.
    expect(performance.now() - begun).toBeGreaterThan(55);
  });
});

describe("the server's clock", () => {
  it('is unknown before the first answer and then follows the Date header', async () => {
    const date = Date.UTC(2031, 0, 2, 3, 4, 5);
    server.others = [json({}, 200, { Date: new Date(date).toUTCString() })];
    const connection = connect();
    expect(connection.serverTime()).toBeUndefined();
    await connection.request(read);
    expect(connection.serverTime()).toBeGreaterThanOrEqual(date);
    expect(connection.serverTime()).toBeLessThan(date + 1500);
  });
});

describe('a closed connection', () => {
  it('refuses requests at once', async () => {
    const connection = connect();
    connection.close();
    await expect(connection.request(read)).rejects.toThrow('the connection was closed');
    expect(pauses).toEqual([]);
  });
});
