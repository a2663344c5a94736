/** What can be set about the adapter; every wait is bounded by something in here, except an open input channel. */
export interface McpOptions {
  /** Largest single message taken from a server, bytes. Default 16 MiB. */
  readonly maxMessageBytes?: number;
  /** How long to wait for the connection and for `initialize`, ms. Default 15 s. */
  readonly connectTimeoutMs?: number;
  /** How long to wait for one answer to a read or a cancel, ms. Default 30 s. */
  readonly requestTimeoutMs?: number;
  /** How long to wait for `tasks/result` of a terminal task, ms. Default 60 s. */
  readonly resultTimeoutMs?: number;
  /** How long a broken event stream that can be resumed may take to come back, ms. Default 10 s. */
  readonly resumeGraceMs?: number;
  /** `sync`: how long after the tool's published limit its answer may still be on its way, ms. Default 5 s. */
  readonly limitGraceMs?: number;
  /** How many pages of `tools/list` are read. Default 50. */
  readonly maxToolPages?: number;
  /** How many questions of a server may wait for somebody to open their task's channel. Default 64. */
  readonly maxQueuedPrompts?: number;
  /** Where a stdio server's diagnostics go: a function gets them as they come. Default `ignore`. */
  readonly stderr?: 'ignore' | 'inherit' | ((chunk: Buffer) => void);
  /** `clientInfo` of `initialize`. */
  readonly clientInfo?: { readonly name: string; readonly version: string };
}

export type Settings = Required<McpOptions>;

export function settingsOf(options: McpOptions): Settings {
  return {
    maxMessageBytes: options.maxMessageBytes ?? 16 * 1024 * 1024,
    connectTimeoutMs: options.connectTimeoutMs ?? 15_000,
    requestTimeoutMs: options.requestTimeoutMs ?? 30_000,
    resultTimeoutMs: options.resultTimeoutMs ?? 60_000,
    resumeGraceMs: options.resumeGraceMs ?? 10_000,
    limitGraceMs: options.limitGraceMs ?? 5_000,
    maxToolPages: options.maxToolPages ?? 50,
    maxQueuedPrompts: options.maxQueuedPrompts ?? 64,
    stderr: options.stderr ?? 'ignore',
    clientInfo: options.clientInfo ?? { name: 'toolop', version: '0.1.0' },
  };
}
