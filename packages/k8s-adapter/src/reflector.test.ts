import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ObjectChange } from './object-watch.ts';
import { openReflector, type Reflector, type ReflectorTiming } from './reflector.ts';
import {
  type ArrivedRequest,
  brokenStream,
  failure,
  json,
  reset,
  type ScriptedAnswer,
  ScriptedApiServer,
  shortStream,
  silence,
  stream,
} from './testing/loopback/scripted-api-server.ts';

interface Named {
  readonly name: string;
  readonly version: string;
}

const object = (name: string, version: number, uid = `uid-${name}`) => ({
  metadata: { name, uid, resourceVersion: String(version) },
});
const list = (version: number, ...items: object[]): ScriptedAnswer =>
  json({ metadata: { resourceVersion: String(version) }, items });
const event = (type: string, ...rest: Parameters<typeof object>) => ({
  type,
  object: object(...rest),
});
const bookmark = (version: number) => ({
  type: 'BOOKMARK',
  object: { metadata: { resourceVersion: String(version) } },
});
const gone = {
  type: 'ERROR',
  object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' },
};
const isList = (request: ArrivedRequest) => request.url.searchParams.has('limit');
const isWatch = (request: ArrivedRequest) => request.url.searchParams.has('watch');
const watchedFrom = (requests: readonly ArrivedRequest[]) =>
  requests.filter(isWatch).map((request) => request.url.searchParams.get('resourceVersion'));

let server: ScriptedApiServer;
let reflector: Reflector<Named> | undefined;
let pauses: number[];
let changes: string[];

beforeEach(async () => {
  server = await ScriptedApiServer.start();
  server.watches = [stream()];
  pauses = [];
  changes = [];
});

afterEach(async () => {
  reflector?.close();
  await server.stop();
});

function open(timing: Partial<ReflectorTiming> = {}): Reflector<Named> {
  const opened = openReflector<Named>({
    connection: server.connect({ attempts: 1 }),
    path: '/apis/test/v1/things',
    fieldSelector: 'spec.signerName=a/b',
    what: 'Things',
    translate: ({ metadata }) => ({ name: metadata.name, version: metadata.resourceVersion }),
    timing: {
      random: () => 0.5,
      wait: async (milliseconds) => {
        pauses.push(milliseconds);
        await new Promise((resolve) => setImmediate(resolve));
      },
      ...timing,
    },
  });
  opened.list.subscribe((change) => changes.push(told(change)));
  reflector = opened;
  return opened;
}

function told(change: ObjectChange<Named>): string {
  if (change.kind === 'changed') {
    const before = change.previous === undefined ? '' : ` was ${change.previous.version}`;
    return `${change.object.name}@${change.object.version}${before}`;
  }
  if (change.kind === 'deleted') return `-${change.object.name}`;
  return change.kind === 'failed' ? `! ${change.message}` : change.kind;
}

/** Resolves when the reflector has told this. */
async function hears(what: string | RegExp): Promise<void> {
  const fits = (text: string) => (typeof what === 'string' ? text === what : what.test(text));
  while (!changes.some(fits)) {
    await new Promise<void>((resolve) => {
      const end = reflector?.list.subscribe(() => {
        end?.();
        resolve();
      });
    });
  }
}

describe('list', () => {
  it('asks for pages with the selector and takes them over together', async () => {
    server.lists = [
      json({ metadata: { resourceVersion: '9', continue: 'next page' }, items: [object('a', 1)] }),
      list(9, object('b', 2)),
    ];
    const { list: watched } = open();
    await hears('synced');

    expect(changes).toEqual(['a@1', 'b@2', 'synced']);
    expect(watched.synced()).toBe(true);
    const [first, second] = server.requests.filter(isList).map(({ url }) => url.searchParams);
    expect(Object.fromEntries(first ?? [])).toEqual({
      fieldSelector: 'spec.signerName=a/b',
      limit: '500',
    });
    expect(second?.get('continue')).toBe('next page');
  });

  it('starts over where a page has expired, and shows nothing of the half', async () => {
    server.lists = [
      json({ metadata: { resourceVersion: '9', continue: 'old' }, items: [object('a', 1)] }),
      failure(410, 'The provided continue parameter is too old', 'Expired'),
      list(10, object('b', 2)),
    ];
    open();
    await hears('synced');
    expect(changes).toEqual([expect.stringMatching(/^! Listing Things failed/), 'b@2', 'synced']);
    expect(server.requests.filter(isList)[2]?.url.searchParams.has('continue')).toBe(false);
  });

  it('takes smaller pages where a page is too large', async () => {
    const page = (limit: number) => object('x'.repeat(limit), 1);
    server.lists = [
      (request, response) => {
        const limit = Number(request.url.searchParams.get('limit'));
        list(3, page(limit * 10))(request, response);
      },
    ];
    reflector = openReflector<Named>({
      connection: server.connect({ attempts: 1, maxAnswerBytes: 1000 }),
      path: '/things',
      what: 'Things',
      translate: () => ({ name: '', version: '' }),
    });
    await server.arrived(1, isWatch);
    const limits = server.requests.filter(isList).map(({ url }) => url.searchParams.get('limit'));
    expect(limits).toEqual(['500', '62', '7']);
  });

  it.each([
    ['a reset', reset, /^! Listing Things failed: .* does not answer/],
    [
      'HTTP 500',
      failure(500, 'etcd is gone'),
      /^! Listing Things failed with HTTP 500: etcd is gone/,
    ],
    [
      'no JSON',
      ((_, response) => response.end('<html>')) satisfies ScriptedAnswer,
      /the answer is no list/,
    ],
    ['a list without a version', json({ items: [] }), /the answer is no list/],
    [
      'HTTP 403',
      failure(403, 'things is forbidden'),
      /HTTP 403: things is forbidden; check the RBAC/,
    ],
  ] as const)('is tried again after %s, and says so', async (_name, broken, sentence) => {
    server.lists = [broken, list(3, object('a', 1))];
    open();
    await hears('synced');
    expect(changes).toEqual([expect.stringMatching(sentence), 'a@1', 'synced']);
    expect(pauses).toEqual([750]);
  });

  it('waits longer each time, to half a minute at most, and never ends', async () => {
    server.lists = [failure(500, 'no')];
    open();
    await server.arrived(8, isList);
    expect(pauses.slice(0, 7)).toEqual([750, 1500, 3000, 6000, 12000, 22500, 22500]);
  });

  it('waits as long as the server asks', async () => {
    server.lists = [failure(429, 'slow down', '', { 'Retry-After': '40' }), list(1)];
    open();
    await hears('synced');
    expect(pauses).toEqual([40_750]);
  });
});

describe('watch', () => {
  beforeEach(() => {
    server.lists = [list(5, object('a', 1))];
  });

  it('asks for bookmarks and an end between 290 and 580 seconds', async () => {
    open();
    const [request] = await server.arrived(1, isWatch);
    expect(Object.fromEntries(request?.url.searchParams ?? [])).toEqual({
      fieldSelector: 'spec.signerName=a/b',
      watch: 'true',
      allowWatchBookmarks: 'true',
      timeoutSeconds: '435',
      resourceVersion: '5',
    });
  });

  it('tells what is added, changed and deleted', async () => {
    server.watches = [
      stream(event('ADDED', 'b', 6), event('MODIFIED', 'a', 7), event('DELETED', 'b', 8)),
    ];
    const { list: watched } = open();
    await hears('-b');
    expect(changes).toEqual(['a@1', 'synced', 'b@6', 'a@7 was 1', '-b']);
    expect(watched.list()).toEqual([{ name: 'a', version: '7' }]);
  });

  it('goes on at the last version when the server ends it, without a pause', async () => {
    server.watches = [shortStream(event('ADDED', 'b', 6)), shortStream(bookmark(40)), stream()];
    open();
    await server.arrived(3, isWatch);
    expect(watchedFrom(server.requests)).toEqual(['5', '6', '40']);
    expect(server.requests.filter(isList)).toHaveLength(1);
    expect(pauses).toEqual([]);
  });

  it('does not hurry where the server ends each watch at once', async () => {
    server.watches = [shortStream()];
    open();
    await server.arrived(4, isWatch);
    expect(pauses.slice(0, 3)).toEqual([750, 1500, 3000]);
  });

  it('goes on at the last version after a reset, and says so', async () => {
    server.watches = [brokenStream(event('ADDED', 'b', 6)), stream(event('ADDED', 'c', 7))];
    open();
    await hears('c@7');
    expect(watchedFrom(server.requests)).toEqual(['5', '6']);
    expect(changes).toContainEqual(
      expect.stringMatching(
        /^! The watch of Things at http.* broke: the connection was cut; it will be opened again\.$/,
      ),
    );
    expect(server.requests.filter(isList)).toHaveLength(1);
  });

  it('pauses no longer where every watch is of use before it breaks', async () => {
    server.watches = [
      ...[6, 7, 8, 9].map((version) => brokenStream(event('ADDED', 'b', version))),
      stream(),
    ];
    open();
    await server.arrived(5, isWatch);
    expect(pauses).toEqual([750, 750, 750, 750]);
    expect(server.requests.filter(isList)).toHaveLength(1);
  });

  it('drops a line that was cut off and gets it whole the next time', async () => {
    const whole = JSON.stringify(event('ADDED', 'b', 6));
    server.watches = [shortStream(whole.slice(0, 30)), stream(event('ADDED', 'b', 6))];
    open();
    await hears('b@6');
    expect(watchedFrom(server.requests)).toEqual(['5', '5']);
  });

  it('puts a line together from pieces, also within a character', async () => {
    const bytes = Buffer.from(`${JSON.stringify(event('ADDED', 'bü', 6))}\n`);
    const cut = bytes.indexOf(0xc3) + 1;
    server.watches = [
      (_request, response) => {
        response.writeHead(200);
        response.write(bytes.subarray(0, cut), () => {
          setImmediate(() => response.write(bytes.subarray(cut)));
        });
      },
    ];
    open();
    await hears('bü@6');
  });

  it.each([
    ['as an event', stream(gone)],
    ['as HTTP 410', failure(410, 'too old resource version', 'Expired')],
  ])('lists again where the past is forgotten, told %s', async (_name, expired) => {
    server.lists = [
      list(5, object('a', 1), object('b', 2)),
      list(90, object('b', 2), object('c', 80)),
    ];
    server.watches = [expired, stream()];
    open();
    await server.arrived(2, isWatch);
    expect(watchedFrom(server.requests)).toEqual(['5', '90']);
    expect(changes).toEqual(['a@1', 'b@2', 'synced', '-a', 'c@80']);
  });

  it('tells of an object made anew under its name as gone and then there', async () => {
    server.lists = [list(5, object('a', 1)), list(90, object('a', 80, 'another uid'))];
    server.watches = [shortStream(gone), stream()];
    open();
    await hears('a@80');
    expect(changes).toEqual(['a@1', 'synced', '-a', 'a@80']);
  });

  it.each([
    ['is no JSON', 'garbage\n', /a line is no JSON/],
    ['is no event', '[]\n', /a line is no object/],
    ['has no object', '{"type":"ADDED"}\n', /an object has no metadata/],
    ['has an unknown type', { type: 'RENAMED', object: object('a', 6) }, /unknown type "RENAMED"/],
    ['is a bookmark of nothing', '{"type":"BOOKMARK"}\n', /a bookmark has no resource version/],
  ])('lists again where a line %s', async (_name, line, sentence) => {
    server.lists = [list(5, object('a', 1)), list(90, object('a', 80))];
    server.watches = [stream(line), stream()];
    open();
    await hears('a@80 was 1');
    expect(changes).toContainEqual(expect.stringMatching(sentence));
  });

  it('lists again where a line does not end, instead of keeping it', async () => {
    server.lists = [list(5, object('a', 1)), list(90, object('a', 80))];
    server.watches = [stream('x'.repeat(17 * 1024 * 1024)), stream()];
    open();
    await hears('a@80 was 1');
    expect(changes).toContainEqual(expect.stringMatching(/a line is longer than 16777216 bytes/));
  });

  it('goes on at the same version after an error event that is no 410', async () => {
    const status = { type: 'ERROR', object: { code: 500, message: 'etcdserver: no leader' } };
    server.watches = [stream(status), stream()];
    open();
    await server.arrived(2, isWatch);
    expect(watchedFrom(server.requests)).toEqual(['5', '5']);
    expect(changes).toContainEqual(expect.stringMatching(/the server says: etcdserver: no leader/));
  });

  it('looks afresh where a version never works', async () => {
    server.lists = [list(5), list(3)];
    server.watches = [failure(500, 'no'), failure(500, 'no'), failure(500, 'no'), stream()];
    open();
    await server.arrived(4, isWatch);
    expect(watchedFrom(server.requests)).toEqual(['5', '5', '5', '3']);
  });

  it('gives up a watch that is silent for longer than it was to last', async () => {
    server.watches = [stream(event('ADDED', 'b', 6)), stream(event('ADDED', 'c', 7))];
    open({ watchSeconds: [0, 0], idleSlackMs: 400 });
    await hears('c@7');
    expect(changes).toContainEqual(expect.stringMatching(/silent for too long/));
    expect(watchedFrom(server.requests).slice(0, 2)).toEqual(['5', '6']);
  });

  it('gives up a watch whose answer does not begin', async () => {
    server.watches = [silence, stream(event('ADDED', 'b', 6))];
    const connection = server.connect({ attempts: 1, requestTimeoutMs: 60 });
    reflector = openReflector<Named>({
      connection,
      path: '/things',
      what: 'Things',
      translate: ({ metadata }) => ({ name: metadata.name, version: metadata.resourceVersion }),
      timing: { wait: async () => undefined },
    });
    reflector.list.subscribe((change) => changes.push(told(change)));
    await hears('b@6');
    expect(changes).toContainEqual(expect.stringMatching(/no answer within 0.06 s/));
  });

  it('keeps telling the others where one subscriber throws', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    server.watches = [stream(event('ADDED', 'b', 6))];
    const { list: watched } = open();
    watched.subscribe(() => {
      throw new Error('a bad subscriber');
    });
    await hears('b@6');
    expect(watched.list()).toHaveLength(2);
    expect(warn).toHaveBeenCalledWith(expect.objectContaining({ message: 'a bad subscriber' }));
    warn.mockRestore();
  });

  it('is closed with the reflector, which then asks for nothing more', async () => {
    const { list: watched, close } = open();
    await server.arrived(1, isWatch);
    close();
    server.cut();
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(server.requests).toHaveLength(2);
    expect(watched.list()).toEqual([{ name: 'a', version: '1' }]);
    expect(changes.filter((change) => change.startsWith('!'))).toEqual([]);
  });

  it('uses a connection of its own and leaves the pool to requests', async () => {
    const connection = server.connect({ connections: 1 });
    reflector = openReflector<Named>({
      connection,
      path: '/things',
      what: 'Things',
      translate: () => ({ name: '', version: '' }),
    });
    await server.arrived(1, isWatch);
    server.others = [json({})];
    await connection.request({ method: 'GET', path: '/version', what: 'Reading the version' });
    expect(server.connections).toBe(2);
  });
});
