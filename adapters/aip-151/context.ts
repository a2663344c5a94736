import type { HttpLink } from './http/link.ts';
import type { Settings } from './options.ts';

/** What the methods of one session share. */
export interface SessionContext {
  readonly link: HttpLink;
  readonly settings: Settings;
  /** Tool and version that an earlier process pinned, if this session continues its work. */
  readonly resumed: { readonly name: string; readonly version: string } | null;
}
