import { tellStories } from './harness.ts';
import { submission } from './stories/submission.ts';

tellStories('submission', submission);
