import { quoteMachines } from '../quote.ts';
import type { NamesInput, RuleFinding } from './rule.ts';

/** Every DNS name is one that the node holds. */
export function dnsNameNotOfNode({ foreignNames }: NamesInput): RuleFinding {
  return foreignNames.flatMap(({ code, name }) =>
    code === 'DnsNameNotOfNode' ? [`${name} is not a name of the node`] : [],
  );
}

/** Every address is one that the node holds. */
export function ipAddressNotOfNode({ foreignNames }: NamesInput): RuleFinding {
  return foreignNames.flatMap(({ code, name }) =>
    code === 'IpAddressNotOfNode' ? [`${name} is not an address of the node`] : [],
  );
}

/** No name is one that no node may have, whatever the node says. */
export function nameReserved({ foreignNames }: NamesInput): RuleFinding {
  return foreignNames.flatMap(({ code, name }) =>
    code === 'NameReserved' ? [`${name} is reserved`] : [],
  );
}

/** No name is one that another machine holds. */
export function nameOfAnotherMachine({ foreignNames }: NamesInput): RuleFinding {
  return foreignNames.flatMap(({ code, name, machines }) =>
    code === 'NameOfAnotherMachine' ? [`${name} belongs to ${quoteMachines(machines)}`] : [],
  );
}
