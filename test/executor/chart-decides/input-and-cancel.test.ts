import { tellStories } from './harness.ts';
import { cancel } from './stories/cancel.ts';
import { input } from './stories/input.ts';

tellStories('input', input);
tellStories('cancel', cancel);
