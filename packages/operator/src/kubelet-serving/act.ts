import type { Inventory, ReceivedRequest, SigningCluster, TalosMachine } from '@ichor/k8s-adapter';
import { errorText } from '../runtime/error-text.ts';
import type { Logger } from '../runtime/logger.ts';
import { conditionFor, cut } from './condition-text.ts';
import type { MachineStatuses } from './machine-statuses.ts';
import type { DecisionStep, Settlement } from './plan-decision.ts';
import type { RequestTrack } from './request-tracks.ts';

/** What acting on a settled request takes. */
export interface Act {
  readonly ports: {
    readonly inventory: Pick<Inventory, 'recordEvent'>;
    readonly signing: Pick<SigningCluster, 'writeDecision'>;
    readonly logger: Logger;
  };
  /** Name of the TalosCluster, for the log. */
  readonly cluster: string;
  readonly track: RequestTrack;
  /** The request as it was judged. */
  readonly request: ReceivedRequest;
  readonly step: DecisionStep & { readonly kind: 'settled' };
  readonly statuses: Pick<MachineStatuses, 'flush'>;
  /** False once something that the decision rests on has changed since it was made. */
  readonly isCurrent: () => boolean;
}

/** When to look at the request again: never by itself, at once, or after the usual delay. */
export type AfterActing = 'done' | 'again' | 'later';

/**
 * Carries out what was decided. Before an approval is written, what it rests on is stored, so that
 * a restart forgets nothing of it.
 *
 * @throws KubeError where a write fails for another reason than a conflict
 */
export async function actOn(act: Act): Promise<AfterActing> {
  const { ports, track, request, step, statuses, isCurrent } = act;
  const { settlement, about } = step;
  if (settlement.kind === 'pending') {
    reportSettlement(ports, act.cluster, track, settlement, about);
    return 'later';
  }
  const condition = conditionFor(settlement);
  if (condition === undefined) return 'later';
  if (settlement.kind === 'approve') {
    await Promise.all(step.restsOn.map((other) => statuses.flush(other)));
  }
  if (!isCurrent()) return 'again';
  const outcome = await ports.signing.writeDecision(request, condition);
  switch (outcome) {
    case 'written':
      track.writtenOver = request.resourceVersion;
      reportSettlement(ports, act.cluster, track, settlement, about);
      return 'done';
    case 'conflict':
      ports.logger.info('the request changed while it was decided; deciding anew', {
        cluster: act.cluster,
        request: request.name,
        uid: request.uid,
      });
      // Where the watch has shown the change already, there is nothing to wait for.
      return isCurrent() ? 'later' : 'again';
    case 'gone':
      track.writtenOver = request.resourceVersion;
      return 'done';
  }
}

/** One log line per decision; for a pending request only when the reason changes. And an Event. */
export function reportSettlement(
  ports: Act['ports'],
  cluster: string,
  track: RequestTrack,
  settlement: Settlement,
  about: readonly TalosMachine[],
): void {
  const { request } = track;
  const reasons = reasonsOf(settlement);
  const before = track.last;
  track.last = settlement;
  if (before?.kind === 'pending' && reasonsOf(before).join() === reasons.join()) return;
  ports.logger.info('request decided', {
    cluster,
    request: request.name,
    uid: request.uid,
    user: request.csr.spec.username,
    kind: settlement.kind,
    reasons,
    detail: detailOf(settlement),
  });
  const event = eventFor(settlement);
  if (event === undefined) return;
  for (const machine of about) {
    ports.inventory
      .recordEvent({
        machine,
        ...event,
        note: cut(detailOf(settlement)),
        related: { name: request.name, uid: request.uid },
      })
      .catch((error: unknown) =>
        ports.logger.warn('an Event could not be written', {
          machine: machine.name,
          error: errorText(error),
        }),
      );
  }
}

function reasonsOf(settlement: Settlement): readonly string[] {
  switch (settlement.kind) {
    case 'approve':
      return ['IchorKubeletServing'];
    case 'deny':
      return settlement.violations.map(({ code }) => code);
    case 'pending':
      return [settlement.reason];
  }
}

function detailOf(settlement: Settlement): string {
  return settlement.kind === 'pending'
    ? settlement.detail
    : (conditionFor(settlement)?.message ?? '');
}

function eventFor(
  settlement: Settlement,
): { type: 'Normal' | 'Warning'; reason: string; action: string } | undefined {
  switch (settlement.kind) {
    case 'approve':
      return { type: 'Normal', reason: 'IchorKubeletServing', action: 'Approve' };
    case 'deny':
      return { type: 'Warning', reason: settlement.violations[0].code, action: 'Deny' };
    case 'pending':
      return settlement.reason === 'RequestSuperseded' ||
        settlement.reason === 'RequestStale' ||
        settlement.reason === 'NotKubeletServing' ||
        settlement.reason === 'AlreadyDecided'
        ? undefined
        : { type: 'Warning', reason: settlement.reason, action: 'Wait' };
  }
}
