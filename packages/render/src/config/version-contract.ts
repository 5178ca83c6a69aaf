/** A version of Talos that configuration is generated for: the numbers before the second dot. */
export interface VersionContract {
  readonly major: number;
  readonly minor: number;
}

/** The oldest contract that rendering is tested for. */
export const oldestContract: VersionContract = { major: 1, minor: 11 };

/** The newest contract that rendering knows. A newer one is treated as this one. */
export const newestContract: VersionContract = { major: 1, minor: 15 };

/**
 * Parses a version contract as Talos does: an optional `v`, two numbers, and whatever follows a second dot
 * is not looked at. `0.0` means the newest. Undefined where Talos refuses the text.
 * (`ParseContractFromVersion` in Talos's `pkg/machinery/config/contract.go`)
 */
export function parseContract(text: string): VersionContract | undefined {
  const [, major, minor] = /^v?([0-9]+)\.([0-9]+)(?:$|\.)/.exec(text) ?? [];
  if (major === undefined || minor === undefined) return undefined;
  const contract = { major: Number(major), minor: Number(minor) };
  return contract.major === 0 && contract.minor === 0 ? newestContract : contract;
}

/** A contract as Talos writes it: `v1.14`. */
export function contractText({ major, minor }: VersionContract): string {
  return `v${major}.${minor}`;
}

/** Negative where `a` is older than `b`, zero where both are the same. */
export function compareContracts(a: VersionContract, b: VersionContract): number {
  return a.major - b.major || a.minor - b.minor;
}

/**
 * Whether configurations of this contract hold `KubeletConfig` and `KubeAPIServerConfig` documents instead of
 * fields of the `v1alpha1` document. (`MultidocKubernetesConfigSupported`: newer than v1.13)
 */
export function hasKubernetesDocuments(contract: VersionContract): boolean {
  return compareContracts(contract, { major: 1, minor: 13 }) > 0;
}
