import type { ConfigSpec } from '../config/config-spec.ts';
import { renderConfig } from '../config/render-config.ts';
import { contractText, newestContract, oldestContract } from '../config/version-contract.ts';
import { encodeYaml } from '../encode.ts';

/** A rendering that is kept as a file. */
export interface GoldenCase {
  /** File below `packages/render/testdata`: `v1.14/verified-controlplane.yaml`. */
  readonly file: string;
  readonly contract: string;
  readonly spec: ConfigSpec;
}

const states = {
  off: {},
  enabled: { kubeletServingCertificates: { enabled: true } },
  unlatched: { kubeletServingCertificates: { enabled: true, verifyFromAPIServer: true } },
  verified: {
    kubeletServingCertificates: { enabled: true, verifyFromAPIServer: true },
    verified: true,
  },
  'removing-verification': {
    kubeletServingCertificates: { enabled: true },
    verified: true,
    removing: true,
  },
  removing: { verified: true, removing: true },
} as const satisfies Readonly<Record<string, Partial<ConfigSpec>>>;

/** Every contract from the oldest to the newest. */
export const goldenContracts: readonly string[] = Array.from(
  { length: newestContract.minor - oldestContract.minor + 1 },
  (_, index) => contractText({ major: 1, minor: oldestContract.minor + index }),
);

/** The cases: each contract, state of the option, type of machine, and output. */
export function goldenCases(): readonly GoldenCase[] {
  return goldenContracts.flatMap((contract) =>
    Object.entries(states).flatMap(([state, option]) =>
      (['controlplane', 'worker'] as const).flatMap((machineType) =>
        (['patch', 'full'] as const).map((output) => ({
          file: `${contract}/${state}-${machineType}${output === 'full' ? '.full' : ''}.yaml`,
          contract,
          spec: { ...option, machineType, output, kubernetesVersion: 'v1.34.2' },
        })),
      ),
    ),
  );
}

/** Text of a golden file; empty where there is nothing to render. */
export function goldenText({ contract, spec, file }: GoldenCase): string {
  const rendered = renderConfig(spec, contract);
  return rendered.kind === 'rendered'
    ? encodeYaml(rendered.documents)
    : `# ${file} is refused: ${rendered.problems[0].sentence}\n`;
}
