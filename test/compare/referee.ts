/** Compares what a caller was told with what the server knows. Nothing here knows a contender or a script. */
import { type History, isOutcome, type Told, type Truth } from './history.ts';

export const VERDICTS = ['agree', 'says less', 'contradicts', 'second operation'] as const;
export type VerdictName = (typeof VERDICTS)[number];

export interface Verdict {
  readonly name: VerdictName;
  readonly why: string;
}

const verdict = (name: VerdictName, why: string): Verdict => ({ name, why });

/** The worst that is true of a run. */
export function judge(history: History): Verdict {
  const { truth, told } = history;
  if (truth.operations > 1) {
    return verdict('second operation', `one call, ${truth.operations} operations`);
  }
  // What claims nothing is no last word while another one follows.
  const words = told.filter((one, nth) => isOutcome(one) || nth === told.length - 1);
  const verdicts = [...conduct(history), ...words.map((one) => compare(one, truth))];
  return verdicts.reduce((worst, next) => (rank(next) > rank(worst) ? next : worst), verdict('agree', ''));
}

export const rank = ({ name }: Verdict): number => VERDICTS.indexOf(name);

/** What a contender did, whatever it said. */
function conduct({ truth, asked, handedOver, cancelAsked, told }: History): readonly Verdict[] {
  const found: Verdict[] = [];
  if (truth.status === 'cancelled' && !cancelAsked) {
    found.push(verdict('contradicts', 'the operation was cancelled, and nobody had asked for that'));
  }
  if (asked > truth.questions) {
    found.push(verdict('contradicts', `a human was asked ${asked} times for ${truth.questions} questions`));
  }
  if (asked < truth.questions && told.every(({ kind }) => kind === 'silent')) {
    found.push(verdict('says less', 'the question never reached the human'));
  }
  if (handedOver > 1) {
    found.push(verdict('contradicts', `one outcome was handed over ${handedOver} times`));
  }
  return found;
}

function compare(told: Told, truth: Truth): Verdict {
  switch (told.kind) {
    case 'completed':
      return completed(told, truth);
    case 'failed':
      return failed(told, truth);
    case 'cancelled':
      return truth.status === 'cancelled'
        ? verdict('agree', '')
        : verdict('contradicts', `told cancelled, the server says ${truth.status}`);
    case 'error':
    case 'parked':
      return withoutOutcome(told, truth);
    case 'silent':
      return truth.status === 'working'
        ? verdict('agree', 'still working')
        : verdict('says less', `told nothing, the server says ${truth.status}`);
  }
}

function completed(told: Extract<Told, { kind: 'completed' }>, truth: Truth): Verdict {
  // A tool that says `isError` has failed on one revision and completed on another: its own words are what counts.
  const fits = truth.status === 'completed' || (truth.status === 'failed' && told.isError && truth.isError);
  if (!fits) return verdict('contradicts', `told completed, the server says ${truth.status}`);
  if (truth.isError && !told.isError) return verdict('contradicts', 'told a success, the tool says error');
  if (truth.text === null) return verdict('contradicts', 'told a result that the server never gave');
  if (told.text !== truth.text) return verdict('contradicts', 'told another result than the server has');
  return verdict('agree', '');
}

function failed(told: Extract<Told, { kind: 'failed' }>, truth: Truth): Verdict {
  const isFailure = truth.status === 'failed' || (truth.status === 'completed' && truth.isError);
  if (!isFailure) {
    return verdict(
      'contradicts',
      `told failed, ${truth.status === 'none' ? 'nothing ran' : `the server says ${truth.status}`}`,
    );
  }
  if (truth.text !== null && !told.text.includes(truth.text)) {
    return verdict('says less', 'failed, without what the server said about it');
  }
  return verdict('agree', '');
}

/** No claim is right where nobody can know, or where nothing happened, and too little where the server would have said. */
function withoutOutcome(told: Told, { status, knowable }: Truth): Verdict {
  if (status === 'none') {
    return told.kind === 'error'
      ? verdict('agree', 'nothing ran')
      : verdict('says less', 'nothing ran, and it is left open whether');
  }
  if (!knowable) return verdict('agree', 'nobody can know');
  return verdict('says less', `no outcome told, the server would say ${status}`);
}

/** Why a peer is better than we are in a run, or `null`. Agreement comes first, then an outcome in hand, then cost. */
export function betterThan(ours: History, peer: History): string | null {
  const [own, other] = [judge(ours), judge(peer)];
  if (rank(other) !== rank(own)) return rank(other) < rank(own) ? `${other.name}, where we: ${own.name}` : null;
  if (other.name !== 'agree') return null;
  const [ownLast, otherLast] = [ours.told.at(-1), peer.told.at(-1)];
  const has = (told: Told | undefined) => told !== undefined && isOutcome(told);
  if (has(otherLast) !== has(ownLast)) return has(otherLast) ? 'tells the outcome, where we do not' : null;
  const [less, more] = [peer.truth.requests, ours.truth.requests];
  return less < more ? `fewer requests (${less}, we ${more})` : null;
}
