export {
  type InMemoryNode,
  type InMemoryTalos,
  type InMemoryTalosOptions,
  inMemoryTalos,
  type NodeFault,
} from './in-memory-talos.ts';
