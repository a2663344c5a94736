import { embeddedSuite } from './embedded.ts';
import { jobSuite } from './job/suite.ts';
import { pageSuite } from './page/suite.ts';
import { pollSuite } from './poll.ts';
import { punctualitySuite } from './punctuality/suite.ts';
import type { Suite, SuiteName } from './suite.ts';
import { waitingSuite } from './waiting/suite.ts';

export const suites: Readonly<Record<SuiteName, Suite>> = {
  job: jobSuite,
  poll: pollSuite,
  waiting: waitingSuite,
  punctuality: punctualitySuite,
  embedded: embeddedSuite,
  page: pageSuite,
};
