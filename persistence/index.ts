export { type LedgerOptions, openLedger } from './open.ts';
export { publicAddress } from './redis/address.ts';
