import type { CertificateSigningRequest } from '@ichor/policy';
import type { ObjectWatch } from './object-watch.ts';

/** A condition of a CSR that is to be appended. (certificates/v1, CertificateSigningRequestCondition) */
export interface DecisionCondition {
  readonly type: 'Approved' | 'Denied';
  readonly reason: string;
  readonly message: string;
}

/**
 * A CSR as it was received. `raw` is for `writeDecision` alone: the whole object, so that it can be
 * written back with nothing lost; decided requests are kept trimmed, without `raw`. Of a request
 * that is larger than any that may be approved, `csr.spec.request` is cut, still above that limit.
 */
export interface ReceivedRequest {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly csr: CertificateSigningRequest;
  /** Conditions with the reason and message they carry. */
  readonly conditions: readonly {
    readonly type: string;
    readonly reason: string;
    readonly message: string;
  }[];
  readonly raw: unknown;
}

/** What became of a write. `conflict`: look again and decide anew. `gone`: deleted or replaced. */
export type DecisionOutcome = 'written' | 'conflict' | 'gone';

/**
 * The cluster whose kubelets ask: its CSRs for `kubernetes.io/kubelet-serving`, and nothing else.
 * All failing calls throw KubeError.
 */
export interface SigningCluster {
  /** Where it is, for messages: the URL of the API server. */
  readonly server: string;
  readonly requests: ObjectWatch<ReceivedRequest>;
  /** UID of the namespace `kube-system`: the identity of the cluster. */
  readClusterUid(): Promise<string>;
  /**
   * The API server's clock in milliseconds since the epoch, carried on from the `Date` header of
   * its last answer; undefined before the first one.
   */
  serverTime(): number | undefined;
  /**
   * PUTs the approval subresource: the object exactly as received, with one condition appended and
   * the resource version that was judged.
   */
  writeDecision(request: ReceivedRequest, condition: DecisionCondition): Promise<DecisionOutcome>;
  close(): void;
}
