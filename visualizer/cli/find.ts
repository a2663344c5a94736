/** From what a user typed to the one operation that it names. */
import { z } from 'zod';
import { type OperationLedger, operationsOf, purgedWords } from '../../machines/index.ts';
import { usage } from './failure.ts';
import { DEFAULT_PRINCIPAL } from './options.ts';
import { oneLine, shortId } from './text.ts';
import type { Workplace } from './workplace.ts';

const FULL = /^p\d+\.[0-9a-f]{64}$/;
const PREFIX = /^(?:p\d+\.)?[0-9a-f]{6,64}$/;

interface Candidate {
  readonly operationId: string;
  readonly callNodeId: string;
  readonly principal: string;
  readonly state: string;
}

/** The id of the operation with this id, unique id prefix, or call node id. `purgedToo`: also of one of which little is left. */
export async function findOperation(place: Workplace, named: string, purgedToo = false): Promise<string> {
  const { executor, ledger, options } = place;
  if (FULL.test(named)) {
    if (await isThere(ledger, named, purgedToo)) return named;
    throw unknown(place, named);
  }
  if (named === '' || named.length > 512) throw unknown(place, named);
  const ofNode = executor.operationIdOf({ callNodeId: named, principal: options.principal ?? DEFAULT_PRINCIPAL });
  if (await isThere(ledger, ofNode, purgedToo)) return ofNode;

  const matches: Candidate[] = [];
  for await (const candidate of candidates(ledger)) {
    const isNode = candidate.callNodeId === named && (options.principal ?? candidate.principal) === candidate.principal;
    if (isNode || (PREFIX.test(named) && hasPrefix(candidate.operationId, named))) matches.push(candidate);
  }
  const [first, ...others] = matches;
  if (!first) throw unknown(place, named);
  if (others.length === 0) return first.operationId;
  throw usage(
    `"${named}" names ${matches.length} operations: ${matches
      .slice(0, 8)
      .map(
        (each) =>
          `${shortId(each.operationId)} (${oneLine(each.callNodeId, 40)} of ${oneLine(each.principal, 40)}, ${each.state})`,
      )
      .join('; ')}`,
    'give more of the id, or the principal',
    { matches: matches.map(({ operationId }) => operationId) },
  );
}

async function isThere(ledger: OperationLedger, operationId: string, purgedToo: boolean): Promise<boolean> {
  const found = await ledger.find(operationId);
  if (found.kind === 'purged' && !purgedToo) {
    throw usage(purgedWords(found.tombstone), 'toolop show tells what is left of it');
  }
  return found.kind !== 'none';
}

async function* candidates(ledger: OperationLedger): AsyncGenerator<Candidate> {
  for await (const { operationId, state, snapshot } of operationsOf(ledger)) {
    // Also a record that this version cannot open can be named; what is done with it is then refused by name.
    yield { operationId, state, ...nodeIn(snapshot) };
  }
}

const Named = z.object({ context: z.object({ callNodeId: z.string().catch(''), principal: z.string().catch('') }) });

function nodeIn(snapshot: string): { readonly callNodeId: string; readonly principal: string } {
  try {
    return Named.parse(JSON.parse(snapshot)).context;
  } catch {
    return { callNodeId: '', principal: '' };
  }
}

function hasPrefix(operationId: string, prefix: string): boolean {
  return operationId.startsWith(prefix) || operationId.slice(operationId.indexOf('.') + 1).startsWith(prefix);
}

function unknown(place: Workplace, named: string) {
  return usage(
    `there is no operation "${oneLine(named, 80)}" in this ledger`,
    `see what there is: toolop list (an id, the first 6 digits of one, or a call node id is taken; namespace "${oneLine(place.options.namespace, 80)}")`,
  );
}
