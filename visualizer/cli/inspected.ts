/** Where `--inspect` shows the operation that is followed: by a bridge of its own, or in a receiver that is there. */
import { wordsOf } from '../../machines/actor/log.ts';
import type { OperationLedger } from '../../machines/index.ts';
import { Inspection } from '../inspect/inspection.ts';
import { usage } from './failure.ts';
import type { CommonOptions, InspectOptions } from './options.ts';
import type { Output } from './output.ts';
import { portTrouble } from './ports.ts';

type Target = Exclude<InspectOptions['inspect'], undefined>;

export async function inspectionOf(
  { inspect, inspectContext }: CommonOptions,
  output: Output,
  ledger: OperationLedger,
): Promise<Inspection | null> {
  if (inspect === undefined) return null;
  const failed = (error: unknown) =>
    output.log({ level: 'warn', event: 'inspector.failed', detail: { why: wordsOf(error) } });
  try {
    const at = inspect === true ? 0 : inspect;
    const inspection = await Inspection.open({ ledger, at, full: inspectContext === 'full', failed });
    output.emit({ type: 'inspector', url: inspection.url });
    output.say(
      typeof at === 'string'
        ? `inspector: it is shown by what receives at ${at}`
        : `inspector: ${inspection.url} (the viewer is loaded from stately.ai once you open it)`,
    );
    return inspection;
  } catch (error) {
    throw troubleOf(error, inspect);
  }
}

function troubleOf(error: unknown, inspect: Target): unknown {
  if (typeof inspect !== 'string') return portTrouble(error, inspect === true ? 0 : inspect);
  return usage(
    `nothing receives at ${inspect}: ${wordsOf(error)}`,
    'start `toolop inspect`, and give the address that it prints',
  );
}
