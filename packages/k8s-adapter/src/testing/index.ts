export {
  type InMemoryKubernetes,
  type InMemoryKubernetesOptions,
  inMemoryKubernetes,
  type NewRequest,
  type PortCall,
  type RecordedEvent,
} from './in-memory-kubernetes.ts';
