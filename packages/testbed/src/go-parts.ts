/** Name of a program that the testbed runs and builds itself with Go. */
export type PartName =
  | 'etcd'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kubectl'
  | 'kubelet'
  | 'fakecri'
  | 'talos-nodes'
  | TalosConfigPart;

/** The configuration library of one version of Talos, as a program. */
export type TalosConfigPart =
  | 'talos-config-1.11'
  | 'talos-config-1.12'
  | 'talos-config-1.13'
  | 'talos-config-1.14';

/** How one program is built. */
export type GoPart = {
  /** Directory under `packages/testbed/go`, a Go module of its own. */
  readonly module: string;
  /** Import path handed to `go build`; `.` for the module's own program. */
  readonly package: string;
  /** Linker flags in one string. */
  readonly ldflags: string;
  /** File of the module that stands for its go.mod, where one source is built against several versions. */
  readonly modfile?: string;
};

/** Version of Kubernetes that is built and that the programs report. */
export const kubernetesVersion = 'v1.37.2';

const stripped = '-s -w';
const component = 'k8s.io/component-base/version';
// Without the stamp every program reports a placeholder, and version checks between parts see nonsense.
const stamped = [
  stripped,
  `-X ${component}.gitVersion=${kubernetesVersion}`,
  `-X ${component}.gitMajor=1`,
  `-X ${component}.gitMinor=37`,
].join(' ');

const kubernetes = (command: string): GoPart => ({
  module: 'kubernetes',
  package: `k8s.io/kubernetes/cmd/${command}`,
  ldflags: stamped,
});

const talosConfig = (modfile?: string): GoPart => ({
  module: 'talos-config',
  package: '.',
  ldflags: stripped,
  ...(modfile === undefined ? {} : { modfile }),
});

/** Every program of the testbed, the small ones first so that a fault in the set-up shows early. */
export const goParts: Readonly<Record<PartName, GoPart>> = {
  fakecri: { module: 'fakecri', package: '.', ldflags: stripped },
  'talos-nodes': { module: 'talos', package: '.', ldflags: stripped },
  'talos-config-1.14': talosConfig(),
  'talos-config-1.13': talosConfig('talos-1.13.mod'),
  'talos-config-1.12': talosConfig('talos-1.12.mod'),
  'talos-config-1.11': talosConfig('talos-1.11.mod'),
  etcd: { module: 'etcd', package: 'go.etcd.io/etcd/server/v3', ldflags: stripped },
  'kube-apiserver': kubernetes('kube-apiserver'),
  'kube-controller-manager': kubernetes('kube-controller-manager'),
  kubectl: kubernetes('kubectl'),
  kubelet: kubernetes('kubelet'),
};

/** The names of `goParts` in building order. */
export const partNames = Object.keys(goParts) as readonly PartName[];
