/** A real Chromium, the one on the PATH. */
import { execFileSync } from 'node:child_process';
import { type Browser, chromium } from 'playwright-core';

/** As root, which a container often is, Chromium runs without its own sandbox only. */
export function startBrowser(): Promise<Browser> {
  const executablePath = execFileSync('which', ['chromium'], { encoding: 'utf8' }).trim();
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}
