import { playAll } from './on-wire.ts';

playAll('stdio', 'embedded');
