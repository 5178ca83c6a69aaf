import type { ReceivedRequest, ServingCertificateRecord, TalosMachine } from '@ichor/k8s-adapter';
import type { IssuedToMachine } from './issued-requests.ts';
import type { ReadingState } from './node-readings.ts';
import type { MachineProgress } from './plan-conditions.ts';
import { isUndecided } from './plan-requests.ts';

/** What is known about a machine's way to a certificate. Times are milliseconds since the epoch. */
export interface ProgressSnapshot {
  readonly machine: TalosMachine;
  readonly record: ServingCertificateRecord | undefined;
  readonly issued: IssuedToMachine | undefined;
  /** The newest request of the machine's own user. */
  readonly newest: ReceivedRequest | undefined;
  /** Why that request is pending, where it was judged. */
  readonly pendingReason: string | undefined;
  readonly state: ReadingState;
  readonly now: number;
}

/** How far a machine has come. The first that applies counts. */
export function planProgress(snapshot: ProgressSnapshot): MachineProgress {
  return { name: snapshot.machine.name, state: progressState(snapshot) };
}

function progressState(snapshot: ProgressSnapshot): MachineProgress['state'] {
  const { record, issued, newest, now } = snapshot;
  const recordedAt = record === undefined ? Number.NEGATIVE_INFINITY : Date.parse(record.issuedAt);
  if (issued?.outside !== undefined && issued.outside.issuedAt > recordedAt) {
    return { kind: 'outside', detail: issued.outside.detail };
  }
  if (record !== undefined && Date.parse(record.notAfter) > now) {
    return {
      kind: 'certified',
      notAfter: Date.parse(record.notAfter),
      unverified: issued?.unverified,
    };
  }
  if (newest !== undefined && (record === undefined || newest.createdAt > recordedAt)) {
    const ofRequest = requestState(newest, snapshot.pendingReason);
    if (ofRequest !== undefined) return ofRequest;
  }
  if (record !== undefined) return { kind: 'expired', notAfter: record.notAfter };
  if (snapshot.state.failure !== undefined) {
    return { kind: 'unreadable', cause: snapshot.state.failure };
  }
  return { kind: 'waiting' };
}

function requestState(
  request: ReceivedRequest,
  pendingReason: string | undefined,
): MachineProgress['state'] | undefined {
  const denied = request.conditions.find(({ type }) => type === 'Denied');
  if (denied !== undefined) {
    return { kind: 'denied', request: request.name, reason: denied.reason };
  }
  const failed = request.conditions.find(({ type }) => type === 'Failed');
  if (failed !== undefined) {
    return { kind: 'denied', request: request.name, reason: `Failed, ${failed.reason}` };
  }
  if (isUndecided(request)) {
    return {
      kind: 'pending',
      request: request.name,
      reason: pendingReason ?? 'it is being decided',
    };
  }
  return (request.csr.status?.certificate ?? '') === ''
    ? { kind: 'approved', request: request.name }
    : undefined;
}
