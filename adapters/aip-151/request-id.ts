import { sha256 } from '../../machines/digest.ts';

/**
 * AIP-155: a UUID of version 4 in form, and the same for every sending of one call, whoever sends it and after whatever
 * crash: 122 bits of a digest of the submission key instead of 122 random ones.
 */
export function requestIdOf(submissionKey: string): string {
  const hex = sha256(`aip-155 request_id ${submissionKey}`);
  const variant = '89ab'[Number.parseInt(hex.charAt(16), 16) % 4];
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
