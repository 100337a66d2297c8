import { runServiceTests } from '../support/service-tests.ts';
import { installedMoto } from '../support/installed-moto.ts';

/** `npm run test:s3 -- [vitest's parameters]`: pulls from a server that speaks S3 and is none of ours. */
await runServiceTests('s3', 'the S3 tests', (tell) => ({ OFFERLINE_TEST_MOTO: installedMoto(tell) }));
