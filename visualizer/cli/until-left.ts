/**
 * Gives what `states` gives, and ends at once when `signal` aborts, also while the next is being read from a ledger that is
 * silent. What was given is not kept: an operation may be followed for days.
 */
export async function* untilLeft<T>(states: AsyncGenerator<T>, signal: AbortSignal): AsyncGenerator<T> {
  try {
    for (;;) {
      const step = await orLeft(states.next(), signal);
      if (step === null || step.done) return;
      yield step.value;
    }
  } finally {
    states.return(undefined).catch(() => undefined);
  }
}

/** `null` when it is left; a race with one promise for all steps would keep each of them. */
function orLeft<T>(next: Promise<T>, signal: AbortSignal): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const leave = () => resolve(null);
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
    next.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
