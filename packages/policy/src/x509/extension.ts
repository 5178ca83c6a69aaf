import { contentOf, type Element, isUniversal, universal } from '../der/element.ts';
import { malformed } from '../der/malformed.ts';
import { dottedOid } from '../der/object-identifier.ts';
import { readDer } from '../der/reader.ts';
import type { RequestedExtension, SanEntry } from '../parsed-csr.ts';
import { readGeneralNames } from './general-name.ts';
import { oid } from './oids.ts';

/** What a list of extensions asks for; `san` holds the entries of every SAN in it. */
export interface Extensions {
  readonly extensions: readonly RequestedExtension[];
  readonly san: readonly SanEntry[];
}

/**
 * Reads Extensions (RFC 5280, section 4.1.2.9), possibly none. Only a SAN is decoded: an extension
 * of another type is refused for its type, whatever it holds.
 */
export function readExtensions(element: Element): Extensions {
  if (!isUniversal(element, universal.sequence)) {
    malformed('the value of extensionRequest is not a list of extensions');
  }
  const extensions: RequestedExtension[] = [];
  const san: SanEntry[] = [];
  for (const child of element.children) {
    const { extension, value } = readExtension(child);
    extensions.push(extension);
    if (extension.type !== oid.subjectAltName) continue;
    for (const entry of readGeneralNames(
      readDer(value.bytes, value.content, value.end, value.level + 1),
    )) {
      san.push(entry);
    }
  }
  return { extensions, san };
}

function readExtension(element: Element): { extension: RequestedExtension; value: Element } {
  const parts = isUniversal(element, universal.sequence) ? element.children : [];
  const [type] = parts;
  const flag = isUniversal(parts[1], universal.boolean) ? parts[1] : undefined;
  const value = flag === undefined ? parts[1] : parts[2];
  if (
    !isUniversal(type, universal.objectIdentifier) ||
    !isUniversal(value, universal.octetString) ||
    parts.length !== (flag === undefined ? 2 : 3)
  ) {
    malformed('an extension is not a type, a critical flag and a value');
  }
  if (flag !== undefined && contentOf(flag)[0] !== 0xff) {
    malformed('an extension writes out that it is not critical');
  }
  return { extension: { type: dottedOid(contentOf(type)), critical: flag !== undefined }, value };
}
