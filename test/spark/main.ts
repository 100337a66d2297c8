import { fileURLToPath } from 'node:url';
import { runServiceTests } from '../support/service-tests.ts';
import { findJava, installedPyspark } from './cluster/pyspark.ts';

/** `npm run test:spark -- [vitest's parameters]`: the tests that need a real Spark, on one that it starts. */
await runServiceTests('spark', 'the Spark tests', (tell) => {
  findJava();
  return {
    SPARK_LOCAL_IP: '127.0.0.1',
    SPARK_CONF_DIR: fileURLToPath(new URL('cluster/conf', import.meta.url)),
    OFFERLINE_TEST_SPARK: JSON.stringify(installedPyspark(tell)),
  };
});
