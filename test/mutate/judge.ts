/** Judges mutants, several at a time: each is handed to the next judge that is free. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { KINDS, type Kind, type Verdict } from './mutant.ts';

export interface Case {
  readonly kind: Kind;
  /** `null`: nothing is changed. */
  readonly name: string | null;
}

export interface Judge {
  /** What kills it; `null`: nothing does. */
  killer(of: Case): Promise<string | null>;
  close(): void;
}

export interface JudgeAll {
  readonly judges: number;
  readonly judge: () => Judge;
  readonly signal: AbortSignal;
  readonly onVerdict: (verdict: Verdict) => void;
}

export async function judgeAll(cases: readonly Case[], { judges, judge, signal, onVerdict }: JudgeAll): Promise<void> {
  const waiting = [...cases];
  const one = async () => {
    const mine = judge();
    const stop = () => mine.close();
    signal.addEventListener('abort', stop, { once: true });
    try {
      for (let next = waiting.shift(); next && !signal.aborted; next = waiting.shift()) {
        const began = performance.now();
        const killer = await mine.killer(next);
        onVerdict({ kind: next.kind, name: next.name ?? '', killer, ms: performance.now() - began });
      }
    } finally {
      signal.removeEventListener('abort', stop);
      mine.close();
    }
  };
  await Promise.all(Array.from({ length: Math.min(judges, cases.length) }, one));
  signal.throwIfAborted();
}

export const Asked = z.object({ kind: z.enum(KINDS), name: z.string().nullable() });
export const Answered = z.object({ killer: z.string().nullable(), error: z.string().nullable() });

/** A judge in a process of its own: faults of a chart keep a core busy, and a copy of the sources holds one fault at a time. */
export function processJudge(): Judge {
  const child = fork(fileURLToPath(new URL('./judge-process.ts', import.meta.url)), { stdio: ['ignore', 2, 2, 'ipc'] });
  const ended = new Promise<never>((_, reject) => {
    child.once('exit', (code, signal) => reject(new Error(`a judge ended (${code ?? signal})`)));
  });
  ended.catch(() => undefined);
  return {
    async killer(of) {
      const answered = new Promise<unknown>((resolve) => child.once('message', resolve));
      child.send(of);
      const { killer, error } = Answered.parse(await Promise.race([answered, ended]));
      if (error !== null) throw new Error(`${of.kind}: ${of.name ?? 'nothing changed'}: ${error}`);
      return killer;
    },
    // It ends with its channel, and takes its copy with it.
    close: () => {
      if (child.connected) child.disconnect();
    },
  };
}
