import { tellStories } from './harness.ts';
import { missing } from './stories/missing.ts';
import { status } from './stories/status.ts';

tellStories('status', status);
tellStories('missing', missing);
