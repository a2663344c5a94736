/** The protocol machine, the approval gate and the executor. Knows two interfaces; nothing of MCP, HTTP or Redis. */
export {
  openByAdapter,
  openOperations,
  type StillNeeded,
  type Switched,
  switchAdapter,
} from './actor/adapter-switches.ts';
export { type Adoption, type AdoptOptions, adoptAll } from './actor/adoption.ts';
export { DEFAULT_POLICY, type ToolCall } from './actor/call.ts';
export { type Clock, systemClock } from './actor/clock.ts';
export type { CommandAnswer, Reconciliation } from './actor/commands.ts';
export { type ConsumerOptions, consumeReady } from './actor/consumer.ts';
export type { GuardedOutput, OutputGuard, OutputVerdict, Rate } from './actor/environment.ts';
export {
  Executor,
  type ExecutorOptions,
  type SubmitAnswer,
} from './actor/executor.ts';
export type { Log, LogEntry } from './actor/log.ts';
export { type Counts, type OpenOperations, openOperationsByEpoch } from './actor/open-operations.ts';
export { CallRefused, OperationError, OperationParked } from './actor/operation-error.ts';
export { createOperationLogic, type OperationLogic, type OperationLogicSnapshot } from './actor/operation-logic.ts';
export { operationsOf } from './actor/operations.ts';
export type { TerminalOutcome } from './actor/outcome.ts';
export { readOutcome } from './actor/outcome.ts';
export { OperationPurged, purgedWords } from './actor/purged.ts';
export { RecordedEvent } from './actor/recorded-event.ts';
export { DEFAULT_RETENTION, purge, Retention } from './actor/retention.ts';
export type { Route } from './actor/routes.ts';
export type { OrdinaryReader, ShadowAnswer } from './actor/shadow.ts';
export { approvalGate } from './approval-gate/machine.ts';
export type { ApprovalPort, OpenRound } from './approval-gate/round.ts';
export type * from './operation-ledger.ts';
export {
  EPOCH_RAISED,
  LedgerIncompatible,
  LedgerRegressed,
  LedgerUnavailable,
  shadowNamespace,
} from './operation-ledger.ts';
export type * from './operation-protocol.ts';
export { EndpointUnavailable } from './operation-protocol.ts';
export {
  CallCancelled,
  GivenUp,
  NotSubmitted,
  OutputMismatch,
  OutputWithheld,
  ToolFailed,
} from './promise/errors.ts';
export type { OutputSchema, StandardSchema } from './promise/output.ts';
export type { Progress } from './promise/progress.ts';
export { type Completed, createToolop, type Running, type RunOptions, type Toolop } from './promise/toolop.ts';
export {
  clearRollout,
  clearRolloutRule,
  type RolloutView,
  rolloutOf,
  setRolloutRule,
} from './rollout/change.ts';
export { modeText, RolloutRule } from './rollout/rules.ts';
export type { OrdinaryOutcome } from './shadow/comparison.ts';
export { type ShadowReport, shadowReport } from './shadow/report.ts';
export { Capabilities, ParkReason, Policy, READER_VERSION, ToolOperationContext } from './tool-operation/context.ts';
export type { Claims, OperationCommand, OperationEvent, OperationFact } from './tool-operation/events.ts';
export { guards } from './tool-operation/guards.ts';
export { type Effect, toolOperation } from './tool-operation/machine.ts';
export type { TerminalReceipt } from './tool-operation/receipt.ts';
