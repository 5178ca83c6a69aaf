/** Name of a program that the testbed runs and builds itself with Go. */
export type PartName =
  | 'etcd'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kubectl'
  | 'kubelet'
  | 'fakecri'
  | 'talos-nodes';

/** How one program is built. */
export type GoPart = {
  /** Directory under `packages/testbed/go`, a Go module of its own. */
  readonly module: string;
  /** Import path handed to `go build`; `.` for the module's own program. */
  readonly package: string;
  /** Linker flags in one string. */
  readonly ldflags: string;
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

/** Every program of the testbed, the small ones first so that a fault in the set-up shows early. */
export const goParts: Readonly<Record<PartName, GoPart>> = {
  fakecri: { module: 'fakecri', package: '.', ldflags: stripped },
  'talos-nodes': { module: 'talos', package: '.', ldflags: stripped },
  etcd: { module: 'etcd', package: 'go.etcd.io/etcd/server/v3', ldflags: stripped },
  'kube-apiserver': kubernetes('kube-apiserver'),
  'kube-controller-manager': kubernetes('kube-controller-manager'),
  kubectl: kubernetes('kubectl'),
  kubelet: kubernetes('kubelet'),
};

/** The names of `goParts` in building order. */
export const partNames = Object.keys(goParts) as readonly PartName[];
