import { playAll } from './on-wire.ts';

playAll('http', 'redis');
