/**
 * What tests of servers, adapters, ledgers and agents need: servers that do what a test says, faults on the wire, a clock that jumps,
 * the checker of the protocol's rules, the contract of a ledger, and the replay of what was recorded. Knows no test runner.
 */
export {
  type CallHistory,
  check,
  type History,
  type SeenReceipt,
  type SeenStep,
  type SeenTask,
  type Violation,
} from './checker.ts';
export { freePort } from './free-port.ts';
export * from './ledger-contract/index.ts';
export {
  type Answered,
  allOperations,
  type Delivery,
  drainOutbox,
  type HeldTask,
  type OwnServer,
  type RecordedServer,
  type RecordOptions,
  recordHistory,
  type ScriptedPort,
  type ServerSide,
} from './record.ts';
export { readRecording, replayEvents } from './replay/events.ts';
export { replayExport } from './replay/export.ts';
export { type Difference, NotARecording, type ReplayReport } from './replay/report.ts';
export type {
  Answer as AipAnswer,
  Call as AipCall,
  Fault as AipFault,
  Faults as AipFaults,
} from './servers/aip-151/faults.ts';
export {
  type AipOptions,
  type AipServer,
  REPORT,
  rpcError,
  type SeenRequest,
  startAipServer,
} from './servers/aip-151.ts';
export {
  type Control,
  controls,
  type Fault,
  type Script,
  type ScriptedLog,
  type ScriptedOptions,
  type ScriptedServer,
  startScriptedServer,
  stdioCommand,
} from './servers/mcp-2025-11-25.ts';
export {
  type Control as Control2026,
  controls2026,
  type Fault as Fault2026,
  type Script as Script2026,
  type ScriptedLog as ScriptedLog2026,
  type ScriptedOptions as ScriptedOptions2026,
  type ScriptedServer2026,
  startScriptedServer2026,
  stdioCommand2026,
} from './servers/mcp-2026-07-28.ts';
export type { Controls, ScriptedProcess, StdioEndpoint } from './servers/process.ts';
export { type ProxyMode, startProxy, type TcpProxy } from './tcp-proxy.ts';
export { VirtualClock } from './virtual-clock.ts';
export { stdioProxy } from './wire/command.ts';
export { type WireControls, wireControls } from './wire/control.ts';
export { type HttpProxy, startHttpProxy } from './wire/http.ts';
export type { Replacement, Rule, RuleInput } from './wire/rules.ts';
export type { Fate, Line, Side, WireLog } from './wire/wire.ts';
