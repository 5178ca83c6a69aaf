export { Operator } from './clusters/operator.ts';
export type { OperatorPorts } from './clusters/operator-ports.ts';
export type { CommandIo } from './commands/command.ts';
export { runCommandLine, runCommandLineWith } from './commands/main.ts';
export {
  type CertificatesReason,
  certificatesReasons,
  type OperationalReason,
  operationalReasons,
} from './kubelet-serving/plan-conditions.ts';
export {
  type OperatorPendingReason,
  operatorPendingReasons,
} from './kubelet-serving/plan-decision.ts';
export { type Clock, systemClock } from './runtime/clock.ts';
export { jsonLogger, type LogFields, type Logger } from './runtime/logger.ts';
