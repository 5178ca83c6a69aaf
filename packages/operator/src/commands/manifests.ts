import { encodeYaml, type InstallPart, installManifest, installParts } from '@ichor/render';
import type { Command } from './command.ts';
import { exitCode, UsageError } from './exit-code.ts';
import { namespaceName, oneOf, parseFlags } from './flags.ts';

/** `ichor manifests`: everything that `kubectl apply -f -` needs. */
export const manifestsCommand: Command = {
  name: 'manifests',
  summary: 'print what installs the operator, for kubectl apply -f -',
  help: `Usage: ichor manifests --image IMAGE [--namespace NAME] [--only PARTS] [-o yaml|json]

Prints the namespace, the custom resources, the ServiceAccount with its roles, and the Deployment,
in the order in which they can be applied:

  ichor manifests --image registry.example/ichor:v0.1.0 | kubectl apply -f -

  --image IMAGE      image of the operator; needed unless --only leaves the Deployment out
  --namespace NAME   namespace of the operator (default ichor-system)
  --only PARTS       comma-separated parts: ${installParts.join(', ')}
  -o, --output FORM  yaml (default) or json (one v1 List)
  -h, --help         this text

Exit codes: 0 done, 64 wrong usage.
`,
  run: async (args, io) => {
    const flags = parseFlags('manifests', args, {
      image: { type: 'string' },
      namespace: { type: 'string', default: 'ichor-system' },
      only: { type: 'string' },
      output: { type: 'string', short: 'o', default: 'yaml' },
    });
    const output = oneOf('output', flags.output, ['yaml', 'json']);
    const namespace = namespaceName('namespace', flags.namespace);
    const only: readonly InstallPart[] | undefined = flags.only
      ?.split(',')
      .map((part) => oneOf('only', part.trim(), installParts));
    if (flags.image === undefined && (only === undefined || only.includes('deployment'))) {
      throw new UsageError('--image is missing; name the image that the Deployment runs.');
    }
    if (flags.image !== undefined && !/^\S+$/.test(flags.image)) {
      throw new UsageError(
        `--image is ${JSON.stringify(flags.image)}; it must be the name of an image, without blanks.`,
      );
    }
    const objects = installManifest({
      image: flags.image ?? '',
      namespace,
      ...(only === undefined ? {} : { only }),
    });
    io.out(
      output === 'yaml'
        ? encodeYaml(objects)
        : `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }, null, 2)}\n`,
    );
    return exitCode.ok;
  },
};
