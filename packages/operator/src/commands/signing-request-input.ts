import type { CertificateSigningRequest } from '@ichor/policy';
import { UsageError } from './exit-code.ts';

/**
 * Takes what `kubectl get csr NAME -o yaml` or `-o json` prints: one object, or a list of one.
 * Fields are judged, not checked: a request may be anything.
 *
 * @throws UsageError where the document is no CertificateSigningRequest at all
 */
export function signingRequestOf(value: unknown, path: string): CertificateSigningRequest {
  const object = onlyItem(value, path);
  const { kind, spec } = object as { readonly kind?: unknown; readonly spec?: unknown };
  if (kind !== undefined && kind !== 'CertificateSigningRequest') {
    throw new UsageError(
      `${path} holds ${typeof kind === 'string' ? `a ${kind}` : 'another kind of object'}; give a CertificateSigningRequest, as kubectl get csr NAME -o yaml prints it.`,
    );
  }
  if (typeof spec !== 'object' || spec === null) {
    throw new UsageError(
      `${path} has no spec; give a CertificateSigningRequest, as kubectl get csr NAME -o yaml prints it.`,
    );
  }
  return object as CertificateSigningRequest;
}

function onlyItem(value: unknown, path: string): object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UsageError(
      `${path} holds no object; give a CertificateSigningRequest as YAML or JSON.`,
    );
  }
  const { items } = value as { readonly items?: unknown };
  if (!Array.isArray(items)) return value;
  const [only] = items as readonly unknown[];
  if (items.length !== 1 || typeof only !== 'object' || only === null) {
    throw new UsageError(`${path} is a list of ${items.length} objects; give one request.`);
  }
  return only;
}
