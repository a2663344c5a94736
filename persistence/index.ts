export { type LedgerOptions, openLedger } from './open.ts';
