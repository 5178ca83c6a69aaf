export {
  type InMemoryKubernetes,
  type InMemoryKubernetesOptions,
  inMemoryKubernetes,
  type NewRequest,
  type PortCall,
  type RecordedEvent,
} from './in-memory-kubernetes.ts';
export {
  type KubernetesCase,
  type KubernetesUnderTest,
  kubernetesCases,
} from './kubernetes-cases.ts';
