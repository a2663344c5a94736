import { slowness } from './slowness.ts';

slowness('redis');
