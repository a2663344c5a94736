import { tellStories } from './harness.ts';
import { identity } from './stories/identity.ts';

tellStories('identity', identity);
