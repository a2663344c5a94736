import { tellStories } from './harness.ts';
import { acceptance } from './stories/acceptance.ts';
import { reconciliation } from './stories/reconciliation.ts';
import { result } from './stories/result.ts';

tellStories('result', result);
tellStories('reconciliation', reconciliation);
tellStories('acceptance', acceptance);
