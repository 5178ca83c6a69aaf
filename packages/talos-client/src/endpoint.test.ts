import { describe, expect, it } from 'vitest';
import { endpointText, grpcTarget, parseEndpoint } from './endpoint.ts';

describe('parseEndpoint', () => {
  it.each([
    ['10.5.0.2', '10.5.0.2', 50_000],
    ['10.5.0.2:6000', '10.5.0.2', 6000],
    ['cp.lab.example', 'cp.lab.example', 50_000],
    ['CP.lab.example.:50001', 'cp.lab.example', 50_001],
    ['talos.default', 'talos.default', 50_000],
    ['fd00:0:0::2', 'fd00::2', 50_000],
    ['[fd00::2]', 'fd00::2', 50_000],
    ['[FD00::2]:443', 'fd00::2', 443],
    ['https://cp.lab.example', 'cp.lab.example', 443],
    ['https://cp.lab.example:50000/', 'cp.lab.example', 50_000],
    ['https://[fd00::2]', 'fd00::2', 443],
  ])('reads %s', (text, host, port) => {
    expect(parseEndpoint(text, 50_000)).toStrictEqual({ host, port });
  });

  it.each([
    ['nothing', ''],
    ['no host', ':50000'],
    ['no port after the colon', 'cp:'],
    ['port 0', 'cp:0'],
    ['a port above 65535', 'cp:65536'],
    ['a signed port', 'cp:+1'],
    ['two ports', 'cp:1:2'],
    ['brackets around a name', '[cp]:50000'],
    ['a zone', 'fe80::1%eth0'],
    ['a zone in brackets', '[fe80::1%eth0]:50000'],
    ['an address with too few parts', '10.5.2'],
    ['an address with a part above 255', '10.5.0.256'],
    ['blanks', ' cp'],
    ['a path', 'https://cp/talos'],
    ['a user', 'https://me@cp'],
    ['plain http', 'http://cp'],
    ['another scheme of gRPC', 'unix:///run/apid.sock'],
    ['a list', '10.5.0.2,10.5.0.3'],
    ['an empty label', 'cp..example'],
    ['a label of 64 characters', `${'a'.repeat(64)}.example`],
  ])('refuses %s', (_, text) => {
    expect(parseEndpoint(text, 50_000)).toBeUndefined();
  });

  it('accepts a label of 63 characters', () => {
    const host = `${'a'.repeat(63)}.example`;
    expect(parseEndpoint(host, 1)).toStrictEqual({ host, port: 1 });
  });
});

describe('grpcTarget', () => {
  it.each([
    [{ host: '10.5.0.2', port: 1 }, 'ipv4:10.5.0.2:1', '10.5.0.2:1'],
    [{ host: 'fd00::2', port: 2 }, 'ipv6:[fd00::2]:2', '[fd00::2]:2'],
    [{ host: 'cp.lab.example', port: 3 }, 'dns:cp.lab.example:3', 'cp.lab.example:3'],
  ])('names the kind of address of %o', (endpoint, target, text) => {
    expect(grpcTarget(endpoint)).toBe(target);
    expect(endpointText(endpoint)).toBe(text);
  });
});
