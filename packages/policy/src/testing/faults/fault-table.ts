import { faultsOfBytes } from './bytes.ts';
import { faultsOfContents } from './contents.ts';
import type { Fault } from './fault.ts';
import { faultsOfKeys } from './keys.ts';
import { faultsOfNames } from './names.ts';
import { faultsOfRequester } from './requester.ts';
import { faultsOfState } from './state.ts';

/** Every single fault, with what it must earn. */
export const faultTable: readonly Fault[] = [
  ...faultsOfBytes,
  ...faultsOfKeys,
  ...faultsOfRequester,
  ...faultsOfContents,
  ...faultsOfNames,
  ...faultsOfState,
];
