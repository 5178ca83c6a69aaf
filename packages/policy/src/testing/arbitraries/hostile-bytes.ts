import fc from 'fast-check';
import { concatBytes, element } from '../der-writer.ts';
import { type Draw, drawFrom } from '../draw.ts';
import { pemText } from '../pem-writer.ts';
import { buildCase, type CaseParts, type RequestCase, withChanges } from '../request-case.ts';
import { buildRequestDer } from '../signing-request.ts';
import { honestCases } from './honest-requests.ts';

const telling = [0x00, 0x01, 0x05, 0x30, 0x31, 0x7f, 0x80, 0x81, 0x82, 0x84, 0xa0, 0xff] as const;

function splice(bytes: Uint8Array, at: number, remove: number, insert: Uint8Array): Uint8Array {
  return concatBytes([bytes.subarray(0, at), insert, bytes.subarray(at + remove)]);
}

function mutatedOnce(bytes: Uint8Array, draw: Draw): Uint8Array {
  const at = draw.below(bytes.length + 1);
  const some = 1 + draw.below(8);
  const copy = new Uint8Array(bytes);
  switch (draw.below(7)) {
    case 0:
      copy[at] = (copy[at] ?? 0) ^ (1 << draw.below(8));
      return copy;
    case 1:
      copy[at] = draw.one(telling);
      return copy;
    case 2:
      return splice(bytes, at, some, new Uint8Array(0));
    case 3:
      return splice(bytes, at, 0, Uint8Array.of(draw.one(telling)));
    case 4:
      return splice(bytes, at, 0, bytes.subarray(at, at + some));
    case 5:
      return bytes.subarray(0, at);
    default:
      copy[at] = ((copy[at] ?? 0) + (draw.below(2) === 0 ? 1 : 255)) & 255;
      return copy;
  }
}

/** The bytes with one to three small changes: turned bits, other lengths, cuts and repeats. */
export function mutated(bytes: Uint8Array, draw: Draw): Uint8Array {
  let result = bytes;
  for (let rounds = 1 + draw.below(3); rounds > 0; rounds -= 1) result = mutatedOnce(result, draw);
  return result;
}

/** Elements within elements without any sense. */
function elementSoup(draw: Draw, depth: number): Uint8Array {
  const parts = Array.from({ length: draw.below(4) }, () =>
    depth > 0 && draw.below(2) === 0
      ? elementSoup(draw, depth - 1)
      : element(draw.one([2, 3, 4, 5, 6, 12, 19, 0x82]), Uint8Array.of(draw.below(256))),
  );
  return element(draw.one([0x30, 0x31, 0xa0, 0x24]), parts);
}

function nested(levels: number): Uint8Array {
  let inner: Uint8Array = Uint8Array.of(5, 0);
  for (let level = 0; level < levels; level += 1) inner = element(0x30, inner);
  return inner;
}

const bytesOfText = (text: string) => new Uint8Array(Buffer.from(text, 'utf8'));

/** One hostile case, and the bytes that stand in `spec.request` once its base64 is undone. */
function hostileText(honest: CaseParts, draw: Draw): Uint8Array {
  const der = () => buildRequestDer(honest.changes);
  switch (draw.below(6)) {
    case 0:
      return Uint8Array.from({ length: draw.below(300) }, () => draw.below(256));
    case 1:
      return mutated(bytesOfText(pemText(der(), honest.changes.pem)), draw);
    case 2:
      return bytesOfText(pemText(mutated(der(), draw)));
    case 3:
      return bytesOfText(pemText(elementSoup(draw, 12)));
    case 4:
      return bytesOfText(pemText(nested(draw.below(2000))));
    default:
      return bytesOfText(pemText(resigned(honest, draw)));
  }
}

/** The request with a mutated CertificationRequestInfo, signed again: the signature is good. */
function resigned(honest: CaseParts, draw: Draw): Uint8Array {
  return buildRequestDer({ ...honest.changes, rewriteInfo: (info) => mutated(info, draw) });
}

/**
 * Bytes for `spec.request`, before their base64: noise, PEM and DER of honest requests with small
 * changes, DER without sense, deep nesting, and changed requests that are signed again.
 */
export function hostileBytes(): fc.Arbitrary<Uint8Array> {
  return fc
    .tuple(honestCases(), fc.nat())
    .map(([honest, seed]) => hostileText(honest, drawFrom(seed)));
}

/** Requests of a known node that carry {@link hostileBytes}. */
export function hostileRequests(): fc.Arbitrary<RequestCase> {
  return fc.tuple(honestCases(), fc.nat()).map(([honest, seed]) => {
    const bytes = hostileText(honest, drawFrom(seed));
    return buildCase(withChanges(honest, { request: Buffer.from(bytes).toString('base64') }));
  });
}

/** Requests with a mutated content under a good signature: the hardest ones to tell apart. */
export function resignedRequests(): fc.Arbitrary<RequestCase> {
  return fc
    .tuple(honestCases(), fc.nat())
    .map(([honest, seed]) =>
      buildCase(withChanges(honest, { der: resigned(honest, drawFrom(seed)) })),
    );
}

const oddValues = [undefined, null, 0, -1, 1.5, Number.NaN, '', 'x', true, [], [null], {}] as const;

/** Objects of which one or two fields hold a value of another type, as a broken client sends. */
export function hostileObjects(): fc.Arbitrary<RequestCase> {
  const paths = [
    ['spec'],
    ['status'],
    ['metadata'],
    ['spec', 'request'],
    ['spec', 'signerName'],
    ['spec', 'usages'],
    ['spec', 'username'],
    ['spec', 'groups'],
    ['spec', 'expirationSeconds'],
    ['status', 'conditions'],
    ['status', 'certificate'],
    ['metadata', 'deletionTimestamp'],
  ] as const;
  const change = fc.tuple(
    fc.constantFrom(...paths),
    fc.oneof(fc.constantFrom<unknown>(...oddValues), fc.jsonValue({ maxDepth: 2 })),
  );
  return fc
    .tuple(honestCases(), fc.array(change, { minLength: 1, maxLength: 2 }))
    .map(([honest, changes]) => {
      const built = buildCase(honest);
      const csr: Record<string, unknown> = { ...built.csr };
      for (const [[part, field], value] of changes) {
        const current = csr[part];
        const fields = typeof current === 'object' && current !== null ? current : {};
        csr[part] = field === undefined ? value : { ...fields, [field]: value };
      }
      return { ...built, csr: csr as unknown as RequestCase['csr'] };
    });
}
