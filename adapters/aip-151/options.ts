import { type Method, type MethodDescriptor, methodsOf } from './method.ts';

/** What may be called, and how patiently. */
export interface Aip151Options {
  /** The methods that may be called, by the name of the tool. */
  readonly methods: Readonly<Record<string, MethodDescriptor>>;
  /** Largest answer taken from a server, bytes. Default 16 MiB. */
  readonly maxMessageBytes?: number;
  /** How long to wait for one answer to a read or a cancel, ms. Default 30 s. */
  readonly requestTimeoutMs?: number;
}

export interface Settings {
  readonly methods: ReadonlyMap<string, Method>;
  readonly maxMessageBytes: number;
  readonly requestTimeoutMs: number;
}

/** Throws an `Error` that says which method is wrong, and what about it. */
export function settingsOf(options: Aip151Options): Settings {
  return {
    methods: methodsOf(options?.methods),
    maxMessageBytes: options.maxMessageBytes ?? 16 * 1024 * 1024,
    requestTimeoutMs: options.requestTimeoutMs ?? 30_000,
  };
}
