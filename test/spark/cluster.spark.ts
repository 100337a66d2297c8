import { execFileSync } from 'node:child_process';
import { expect, inject, it } from 'vitest';

it('a master and two workers answer a query', () => {
  const { python, master } = inject('spark');
  const program = `
from pyspark.sql import SparkSession
spark = SparkSession.builder.master(${JSON.stringify(master)}).config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1").getOrCreate()
print(spark.version, spark.range(1000).repartition(2).selectExpr("sum(id)").first()[0])
`;
  expect(execFileSync(python, ['-c', program], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })).toBe(
    '4.1.4 499500\n',
  );
});
