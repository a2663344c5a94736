import { slowness } from './slowness.ts';

slowness('embedded');
