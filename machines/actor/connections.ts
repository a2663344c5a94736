/** Sessions to the servers that this process can serve, one per endpoint and protocol, opened when needed. */
import type { Endpoint, OperationProtocol, ProtocolSession, ResumeState } from '../operation-protocol.ts';
import type { ToolOperationContext } from '../tool-operation/context.ts';
import { endpointIdOf } from './call.ts';
import { PlainError } from './log.ts';

/** The only server that could be asked does not exist any more: a fact (`server.gone`), not a failure. */
export class ServerGone extends PlainError {
  override readonly name = 'ServerGone';
}

interface Open {
  readonly session: Promise<ProtocolSession>;
}

export class Connections {
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #protocols: ReadonlyMap<string, OperationProtocol>;
  readonly #open = new Map<string, Open>();
  readonly #gone = new Map<string, string>();
  readonly #retired = new Set<Open>();
  readonly #lostSessions = new Set<string>();

  constructor(
    protocols: readonly OperationProtocol[],
    private readonly processId: string,
  ) {
    this.#protocols = new Map(protocols.map((protocol) => [protocol.id, protocol]));
  }

  register(endpoint: Endpoint): string {
    const id = endpointIdOf(endpoint, this.processId);
    this.#endpoints.set(id, endpoint);
    return id;
  }

  /** Scopes of the ledger that this process can serve. */
  scopes(): readonly string[] {
    const http = [...this.#endpoints]
      .filter(([, endpoint]) => endpoint.kind === 'http')
      .map(([id]) => `endpoint:${id}`);
    return [`process:${this.processId}`, ...http];
  }

  protocol(id: string): OperationProtocol {
    const protocol = this.#protocols.get(id);
    if (!protocol)
      throw new Error(`no adapter for ${id} in this executor; it has ${[...this.#protocols.keys()].join(', ')}`);
    return protocol;
  }

  /** The session of a record. Rejects with `ServerGone` or `EndpointUnavailable`; nothing was sent then. */
  session(context: ToolOperationContext): Promise<ProtocolSession> {
    const resume = this.sessionChanged(context) ? undefined : { ...context.session, tool: context.tool };
    return this.#connect(context.endpoint.id, context.protocol, this.#keyOf(context), resume);
  }

  /** A session for a call that has no record yet. */
  fresh(endpoint: Endpoint, protocol: string): Promise<ProtocolSession> {
    const endpointId = this.register(endpoint);
    return this.#connect(endpointId, protocol, `${protocol} ${endpointId}`);
  }

  /** The session that negotiated a record is the one that serves it: no second connection for the same server session. */
  remember(context: ToolOperationContext): void {
    const negotiatedOn = this.#open.get(`${context.protocol} ${context.endpoint.id}`);
    if (negotiatedOn && context.session.sessionId) this.#open.set(this.#keyOf(context), negotiatedOn);
  }

  /** Tasks are bound to the session that made them: under another one, "unknown id" proves even less (B13). */
  sessionChanged(context: ToolOperationContext): boolean {
    return context.session.sessionId !== null && this.#lostSessions.has(context.session.sessionId);
  }

  #keyOf(context: ToolOperationContext): string {
    const { sessionId } = context.session;
    const plain = `${context.protocol} ${context.endpoint.id}`;
    return context.endpoint.kind === 'http' && sessionId !== null && !this.sessionChanged(context)
      ? `${plain} ${sessionId}`
      : plain;
  }

  async #connect(endpointId: string, protocolId: string, key: string, resume?: ResumeState): Promise<ProtocolSession> {
    const endpoint = this.#endpoints.get(endpointId);
    const gone = this.#gone.get(endpointId);
    if (gone !== undefined) throw new ServerGone(gone);
    if (!endpoint) throw new ServerGone('the process that ran this server is gone, and the server with it');
    const open = this.#open.get(key) ?? this.#start(key, endpointId, endpoint, protocolId, resume);
    return open.session;
  }

  #start(key: string, endpointId: string, endpoint: Endpoint, protocolId: string, resume?: ResumeState): Open {
    const useful = endpoint.kind === 'http' ? resume : undefined;
    const session = this.protocol(protocolId)
      .connect(endpoint, useful)
      .then((connected) => {
        connected.onGone((reason) => {
          this.#open.delete(key);
          if (endpoint.kind === 'stdio') this.#gone.set(endpointId, reason);
        });
        return connected;
      });
    session.catch(() => this.#open.delete(key));
    const open = { session };
    this.#open.set(key, open);
    return open;
  }

  /** The server refused the session of this record: the next request opens a new one. */
  loseSession(context: ToolOperationContext): void {
    const key = this.#keyOf(context);
    const open = this.#open.get(key);
    if (context.session.sessionId) this.#lostSessions.add(context.session.sessionId);
    for (const [other, candidate] of [...this.#open]) if (candidate === open) this.#open.delete(other);
    // Calls may still be on their way on it, and their answers are evidence: it is closed at the end.
    if (open) this.#retired.add(open);
  }

  async close(): Promise<void> {
    const open = new Set([...this.#open.values(), ...this.#retired]);
    this.#open.clear();
    this.#retired.clear();
    await Promise.all(
      [...open].map(async ({ session }) => {
        const connected = await session.catch(() => null);
        await connected?.close().catch(() => undefined);
      }),
    );
  }
}
