import type { LiveConfig } from './live/live-config.ts';
import { type Problem, problemAt, quoted } from './problem.ts';
import {
  compareContracts,
  contractText,
  hasKubernetesDocuments,
  newestContract,
  oldestContract,
  parseContract,
  type VersionContract,
} from './version-contract.ts';

const field = 'spec.talos.contract';

/** The contract to render for with what to know about it, or why there is none. Absent means the newest. */
export function readContract(
  text: string | undefined,
  live: LiveConfig | undefined,
): { readonly contract: VersionContract; readonly warnings: readonly Problem[] } | Problem {
  if (text === undefined) {
    const warnings =
      live === undefined
        ? [
            problemAt(
              field,
              `is not given, so ${contractText(newestContract)} is assumed; give it where Talos is older than v1.14.`,
            ),
          ]
        : [];
    return { contract: newestContract, warnings };
  }
  const contract = parseContract(text);
  if (contract === undefined || contract.major < 1) {
    return problemAt(field, `is ${quoted(text)}; it must be a version contract such as v1.14.`);
  }
  if (compareContracts(contract, newestContract) > 0) {
    const newest = contractText(newestContract);
    return {
      contract: newestContract,
      warnings: [
        problemAt(
          field,
          `is ${quoted(text)}, which is newer than ${newest}, the newest known here; it is treated as ${newest}.`,
        ),
      ],
    };
  }
  return { contract, warnings: [...ageWarnings(contract), ...shapeWarnings(contract, live)] };
}

function ageWarnings(contract: VersionContract): readonly Problem[] {
  if (compareContracts(contract, oldestContract) >= 0) return [];
  const oldest = contractText(oldestContract);
  return [problemAt(field, `is older than ${oldest}, the oldest that is tested.`)];
}

function shapeWarnings(
  contract: VersionContract,
  live: LiveConfig | undefined,
): readonly Problem[] {
  if (live?.kubelet.shape !== 'document' || hasKubernetesDocuments(contract)) return [];
  return [
    problemAt(
      field,
      `is ${contractText(contract)}, but the machine's configuration holds ${live.kubelet.path}, which is v1.14's; its shape is kept.`,
    ),
  ];
}
