/** G1: terminal divergence over distinct orderings, in simulation and on real parts. */
import { type Judged, type Run, whole } from '../gate.ts';
import { missed } from './matrix.ts';
import { performReal, realNotes } from './real.ts';
import { simulate, simulatedNotes } from './simulated.ts';

export async function g1(run: Run): Promise<Judged> {
  const { sizes } = run;
  const simulated = await simulate(run);
  const real = await performReal(run);
  const diverged = simulated.divergences.length + real.violations.length;
  const enough = simulated.distinct >= sizes.simulated && real.distinct >= sizes.real;
  const matrixIsWhole = missed(simulated.matrix).length === 0;
  return {
    ran: 'distinct orderings (simulated + real)',
    count: simulated.distinct + real.distinct,
    figure: `${diverged} diverged`,
    limit: `0, over at least ${whole(sizes.simulated)} + ${whole(sizes.real)}`,
    pass: diverged === 0 && enough && matrixIsWhole,
    matrix: simulated.matrix,
    notes: [...simulatedNotes(simulated), ...realNotes(real)],
  };
}
