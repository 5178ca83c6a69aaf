import { contentOf, type Element, isUniversal, universal } from '../der/element.ts';
import { malformed } from '../der/malformed.ts';
import { dottedOid } from '../der/object-identifier.ts';

/** An AlgorithmIdentifier (RFC 5280, section 4.1.1.2): its OBJECT IDENTIFIER, and what follows it. */
export interface AlgorithmIdentifier {
  readonly algorithm: string;
  readonly parameters: Element | undefined;
}

/** Reads an AlgorithmIdentifier; `where` names it in the problem. */
export function readAlgorithmIdentifier(
  element: Element | undefined,
  where: string,
): AlgorithmIdentifier {
  if (!isUniversal(element, universal.sequence))
    malformed(`${where} is not an AlgorithmIdentifier`);
  const [type, parameters, surplus] = element.children;
  if (!isUniversal(type, universal.objectIdentifier) || surplus !== undefined) {
    malformed(`${where} is not an AlgorithmIdentifier`);
  }
  return { algorithm: dottedOid(contentOf(type)), parameters };
}
