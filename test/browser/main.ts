import { installedChromium } from './support/installed-chromium.ts';
import { runServiceTests } from '../support/service-tests.ts';

/** `npm run test:browser -- [vitest's parameters]`: the console in an installed Chromium. */
await runServiceTests('browser', 'the browser tests', (report) => ({
  OFFERLINE_TEST_CHROMIUM: installedChromium(report),
}));
