import { installedMoto } from '../support/installed-moto.ts';
import { runServiceTests } from '../support/service-tests.ts';

/** `npm run test:fleet -- [vitest's parameters]`: several machines, on real services that it starts. */
await runServiceTests('fleet', 'the tests of several machines', (tell) => ({
  OFFERLINE_TEST_MOTO: installedMoto(tell),
}));
