import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    // Real servers and real processes: a test may take seconds, and most of it is waiting, so three files at a time are what two cores carry: with four, what waits by looking takes the time of what works.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // A shared machine stalls for seconds at times; a test that fails twice in a row fails.
    retry: process.env.CI ? 1 : 0,
    pool: 'forks',
    // The files of one worker share the modules they import: no test changes a module for good, and loading them anew for each took a third of the time.
    isolate: false,
    maxWorkers: 3,
  },
});
