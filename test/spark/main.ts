import { runServiceTests } from '../support/service-tests.ts';
import { findJava, installedPyspark, quickStart } from './cluster/pyspark.ts';

/** `npm run test:spark -- [vitest's parameters]`: the tests that need a real Spark, on one that it starts. */
await runServiceTests('spark', 'the Spark tests', (tell) => {
  const javaVersion = findJava();
  const spark = installedPyspark(tell);
  return { ...quickStart(spark, javaVersion, tell), OFFERLINE_TEST_SPARK: JSON.stringify(spark) };
});
