/** The boundary: one frame of the Stately inspector's protocol, or why it is none. */
import { z } from 'zod';
import { MAX_FRAME_BYTES } from '../inspect/memory.ts';

const MAX_ID = 512;

const id = z.string().min(1).max(MAX_ID);
const common = {
  sessionId: id,
  /** ms, as text. What cannot be one is the time at which the frame came. */
  createdAt: z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number)
    .nullish()
    .catch(null),
};

const anything = z.unknown().optional();
/** A status of another version is taken for a live one. */
const status = z.enum(['active', 'done', 'error', 'stopped']).catch('active');
const Snapshot = z.looseObject({
  status,
  value: anything,
  context: anything,
  output: anything,
  error: anything,
  tags: z.array(z.string()).catch([]),
});
export type Snapshot = z.output<typeof Snapshot>;

const Event = z.looseObject({ type: z.string() });

const Frame = z.discriminatedUnion('type', [
  z.object({
    ...common,
    type: z.literal('@xstate.actor'),
    name: z.string().nullish(),
    parentId: id.nullish(),
    definition: z.string().nullish(),
    snapshot: Snapshot.nullish(),
  }),
  z.object({ ...common, type: z.literal('@xstate.event'), sourceId: id.nullish(), event: Event }),
  z.object({ ...common, type: z.literal('@xstate.snapshot'), event: Event.nullish().catch(null), snapshot: Snapshot }),
]);
export type Frame = z.output<typeof Frame>;

/** `bytes`: of the text as it came. */
export function readFrame(text: string, bytes: number): { readonly frame: Frame } | { readonly problem: string } {
  if (bytes > MAX_FRAME_BYTES) {
    return { problem: `a frame of ${bytes} bytes: at most ${MAX_FRAME_BYTES} are taken (sanitizeContext sends less)` };
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { problem: 'a frame that is not JSON' };
  }
  const read = Frame.safeParse(json);
  if (read.success) return { frame: read.data };
  const [issue] = read.error.issues;
  return { problem: `no frame of the inspector's protocol: ${issue?.path.join('.') || 'it'}: ${issue?.message}` };
}
