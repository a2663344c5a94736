/** The extension that tasks are on this revision. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';
export const META_CLIENT_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;
export const MISSING_CLIENT_CAPABILITY = -32021;

/** An answer with an error, as the SDK takes it from a handler. */
export function rpcError(code: number, message: string, data?: object): Error {
  return Object.assign(new Error(message), { code, ...(data === undefined ? {} : { data }) });
}
