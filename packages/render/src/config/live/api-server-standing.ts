import { acceptedAuthoritiesFile, kubeletAuthorityFlag } from '../documents/api-server-settings.ts';
import { type Problem, problemAt, quoted } from '../problem.ts';
import { flagPath, type LiveConfig } from './live-config.ts';

/** What a live kube-apiserver makes of the flag. */
export interface ApiServerStanding {
  /** What stops rendering the flag. */
  readonly problems: readonly Problem[];
  /** The flag: absent, as we render it, or with a value of the administrator's. */
  readonly flag: 'absent' | 'ours' | 'foreign';
  readonly path: string;
  readonly value: string;
}

/** Judges kube-apiserver of a control plane whose configuration is known. */
export function apiServerStanding({ apiServer, kubelet }: LiveConfig): ApiServerStanding {
  const path = flagPath(apiServer, kubeletAuthorityFlag);
  const value = apiServer.flags.get(kubeletAuthorityFlag)?.at(-1);
  const flag =
    value === undefined ? 'absent' : value === acceptedAuthoritiesFile ? 'ours' : 'foreign';
  const problems: Problem[] = [];
  if (flag === 'foreign') {
    problems.push(
      problemAt(
        path,
        `is ${quoted(value)} and not ours to change; remove it, or keep it and set verifyFromAPIServer to false.`,
      ),
    );
  }
  // The document alone would take the default authorizers away, and the old field conflicts with its siblings.
  if (apiServer.shape === 'absent' && kubelet.shape === 'document') {
    problems.push(
      problemAt(
        'KubeAPIServerConfig',
        'would have to be introduced for one flag, which changes how the API server authorizes; add the document that talosctl gen config writes, or .cluster.apiServer, and render again.',
      ),
    );
  }
  return { problems, flag, path, value: value ?? '' };
}

/** What is wrong with kube-apiserver's settings in the configuration of a worker. */
export function workerApiServerProblems({ apiServer }: LiveConfig): {
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
} {
  switch (apiServer.shape) {
    case 'absent':
      return { problems: [], warnings: [] };
    case 'document':
      return {
        problems: [
          problemAt(
            apiServer.path,
            'stands in the configuration of a worker, which Talos refuses; remove it.',
          ),
        ],
        warnings: [],
      };
    case 'legacy': {
      const carriesFlag = apiServer.flags.has(kubeletAuthorityFlag);
      const path = carriesFlag ? flagPath(apiServer, kubeletAuthorityFlag) : apiServer.path;
      // A patch for all machines leaves it there often, and Talos does not look at it on a worker.
      const note = problemAt(
        path,
        'stands in the configuration of a worker, which has no API server; remove it.',
      );
      return carriesFlag ? { problems: [note], warnings: [] } : { problems: [], warnings: [note] };
    }
  }
}
