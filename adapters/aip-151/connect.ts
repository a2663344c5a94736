import { validateHeaderName, validateHeaderValue } from 'node:http';
import { type Endpoint, EndpointUnavailable } from '../../machines/operation-protocol.ts';
import { HttpLink } from './http/link.ts';

/** A link to the base of an API. Opens no connection: there is nothing to agree on. */
export function linkTo(endpoint: Endpoint, maxMessageBytes: number): HttpLink {
  if (endpoint.kind !== 'http') throw new EndpointUnavailable('AIP-151 is spoken over HTTP: give the URL of the API');
  const base = URL.canParse(endpoint.url) ? new URL(endpoint.url) : null;
  if (base === null || (base.protocol !== 'http:' && base.protocol !== 'https:')) {
    throw new EndpointUnavailable('the endpoint is not an http(s) URL');
  }
  const headers = endpoint.headers ?? {};
  try {
    for (const [name, value] of Object.entries(headers)) {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    }
  } catch {
    // Its message would hold the name only, but a credential may stand there by mistake.
    throw new EndpointUnavailable('a header of the endpoint is not a valid HTTP header');
  }
  return new HttpLink(base, headers, maxMessageBytes);
}
