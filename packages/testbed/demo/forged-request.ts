import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createServingRequest,
  eventually,
  type Kubelet,
  notYet,
  operatorNamespace,
  type Testbed,
} from '../src/index.ts';
import { conditionOf, isPending, type SigningRequest, showKubectl, workers } from './lab.ts';
import type { Narrator } from './narrator.ts';

/** A worker that somebody has taken over asks for its neighbour's name, then for its neighbour's address. */
export async function showForgery(
  narrator: Narrator,
  testbed: Testbed,
  kubelets: readonly Kubelet[],
): Promise<void> {
  const { step, say, ran, table, expect } = narrator;
  const [, victim, attacker] = workers;
  step(`Somebody takes over ${attacker.name} and wants to be ${victim.name}`);
  const kubelet = kubelets.find(({ nodeName }) => nodeName === attacker.name);
  const pair = await readFile(
    join(kubelet?.certificates ?? '', 'kubelet-client-current.pem'),
    'utf8',
  );
  const stolen = { certificate: pair, key: pair };
  const organizations = ['system:nodes'];

  say(
    `With the credentials of that kubelet it asks for a certificate in the name of ${victim.name}.`,
  );
  const impersonation = await testbed.createCsr(stolen, {
    ...createServingRequest(
      { commonName: `system:node:${victim.name}`, organizations },
      { dnsNames: [victim.name], ipAddresses: [victim.address] },
    ),
    name: 'impersonation',
  });
  expect('the API server itself refuses that', impersonation.status === 403, impersonation.text);

  say(
    `So it asks in its own name, for the address of ${victim.name}. That gets past the API server.`,
  );
  const forged = await testbed.createCsr(stolen, {
    ...createServingRequest(
      { commonName: `system:node:${attacker.name}`, organizations },
      { dnsNames: [attacker.name], ipAddresses: [attacker.address, victim.address] },
    ),
    name: 'forged',
  });
  expect('the request is accepted for decision', forged.status === 201, forged.text);
  const denied = await eventually('Ichor decides the request', async () => {
    const { body } = await testbed.admin.send(testbed.csrPath('forged'));
    return isPending(body) ? notYet(body.status) : (body as SigningRequest);
  });
  await showKubectl(narrator, testbed, ['get', 'csr', 'forged']);
  const { type, reason, message } = conditionOf(denied);
  table(['condition', 'reason', 'message'], [[type, reason, message]]);
  expect(
    `it is denied, because the address is that of ${victim.name}`,
    type === 'Denied' && reason === 'NameOfAnotherMachine' && message.includes(victim.address),
    denied.status,
  );

  const events = [
    ...['get', 'events', '--namespace', operatorNamespace],
    ...['--field-selector', 'type=Warning'],
  ];
  const listed = await eventually('there is an Event', async () => {
    const { stdout } = await testbed.kubectl(events);
    return stdout.includes('NameOfAnotherMachine') ? stdout : notYet(stdout);
  });
  ran(`kubectl ${events.join(' ')}`, listed);
  expect(
    `an Event says so on ${attacker.name}`,
    listed.includes(`talosmachine/${attacker.name}`),
    listed,
  );
}
