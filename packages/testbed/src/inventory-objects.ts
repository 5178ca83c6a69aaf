import { eventually, notYet } from './eventually.ts';
import type { KubeResponse } from './kube-request.ts';
import { operatorNamespace } from './operator-process.ts';
import type { Testbed } from './testbed.ts';

type KubeObject = KubeResponse['body'];

const inventory = `/apis/ichor.dev/v1alpha1/namespaces/${operatorNamespace}`;
const events = `/apis/events.k8s.io/v1/namespaces/${operatorNamespace}/events`;

/** Path of a TalosCluster. */
export const clusterPath = (name = 'lab'): string => `${inventory}/talosclusters/${name}`;

/** Path of a TalosMachine. */
export const machinePath = (name: string): string => `${inventory}/talosmachines/${name}`;

/** Reads an object as administrator. @throws Error with the API server's message */
export async function readObject(testbed: Testbed, path: string): Promise<KubeObject> {
  const { status, body, text } = await testbed.admin.send(path);
  if (status !== 200) throw new Error(`GET ${path}: ${status} ${body?.message ?? text}`);
  return body;
}

/**
 * Waits until a condition of a TalosCluster has a status and reason and is about the newest spec.
 *
 * @returns the condition
 */
export async function clusterCondition(
  testbed: Testbed,
  type: 'KubeletServingCertificates' | 'Operational',
  wanted: { readonly status: 'True' | 'False'; readonly reason: string },
  name = 'lab',
): Promise<{ readonly status: string; readonly reason: string; readonly message: string }> {
  return eventually(`${type} of ${name} is ${wanted.status} (${wanted.reason})`, async () => {
    const { metadata, status } = await readObject(testbed, clusterPath(name));
    const found = status?.conditions?.find((condition: KubeObject) => condition.type === type);
    const isWanted =
      found?.observedGeneration === metadata.generation &&
      found.status === wanted.status &&
      found.reason === wanted.reason;
    return isWanted ? found : notYet(status);
  });
}

/** Waits for the Event of a machine and a reason. */
export async function machineEvent(
  testbed: Testbed,
  machine: string,
  reason: string,
): Promise<KubeObject> {
  return eventually(`there is an Event ${reason} of ${machine}`, async () => {
    const { items } = await readObject(testbed, events);
    const ofMachine = items.filter((item: KubeObject) => item.regarding?.name === machine);
    return (
      ofMachine.find((item: KubeObject) => item.reason === reason) ??
      notYet(ofMachine.map((item: KubeObject) => item.reason))
    );
  });
}

/** Changes fields of an object's spec by merge patch. @returns the object afterwards */
export async function patchObject(
  testbed: Testbed,
  path: string,
  patch: Readonly<Record<string, unknown>>,
): Promise<KubeObject> {
  const { status, body, text } = await testbed.admin.send(path, {
    method: 'PATCH',
    contentType: 'application/merge-patch+json',
    body: patch,
  });
  if (status !== 200) throw new Error(`PATCH ${path}: ${status} ${body?.message ?? text}`);
  return body;
}

/** Takes away all TalosClusters, TalosMachines, their Events and all certificate signing requests. */
export async function clearInventory(testbed: Testbed): Promise<void> {
  for (const path of [
    `${inventory}/talosclusters`,
    `${inventory}/talosmachines`,
    events,
    testbed.csrPath(),
  ]) {
    // An Event of a decision that is on its way may still come after the first try.
    await eventually(`${path} is empty`, async () => {
      const { status, text } = await testbed.admin.send(path, { method: 'DELETE' });
      if (status !== 200) return notYet(`DELETE: ${status} ${text}`);
      const { items } = await readObject(testbed, path);
      return items.length === 0 || notYet(items.length);
    });
  }
}
