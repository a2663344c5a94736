import type { OperationProtocol, ProtocolSession } from '../../machines/operation-protocol.ts';

/** The same protocol, whose sessions are others than the adapter opens. */
export const withSessions = (
  protocol: OperationProtocol,
  change: (session: ProtocolSession) => ProtocolSession,
): OperationProtocol => ({ ...protocol, connect: async (...to) => change(await protocol.connect(...to)) });
