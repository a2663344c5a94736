/**
 * Google's long-running operations (AIP-151) over HTTP and JSON, with the request ids of AIP-155 where an API declares
 * them. Nothing of it is MCP (B2), and nothing is taken from a client library: those make up outcomes of their own.
 */
import type { OperationProtocol } from '../../machines/operation-protocol.ts';
import { linkTo } from './connect.ts';
import { ADAPTER_ID } from './names.ts';
import { type Aip151Options, settingsOf } from './options.ts';
import { createSession } from './session.ts';

export type { MethodDescriptor } from './method.ts';
export { ADAPTER_ID, PROTOCOL_VERSION } from './names.ts';
export type { Aip151Options } from './options.ts';
export { requestIdOf } from './request-id.ts';

/** The adapter for AIP-151 (brief B2; design section 5). Throws for a method that is not well declared. */
export function aip151(options: Aip151Options): OperationProtocol {
  const settings = settingsOf(options);
  return {
    id: ADAPTER_ID,
    async connect(endpoint, resume) {
      return createSession({
        link: linkTo(endpoint, settings.maxMessageBytes),
        settings,
        resumed: resume?.tool ?? null,
      });
    },
  };
}
