import { z } from 'zod';

const sparkMemory = z
  .string()
  .regex(/^[1-9]\d{0,5}[mg]$/, 'is not an amount such as "512m" or "4g"')
  .meta({ takes: 'amount such as `"4g"`' });

/** Apache Spark. What is not here, passwords above all, is Spark's own to configure: `spark-defaults.conf`. */
const sparkEngine = z
  .strictObject({
    kind: z.literal('spark'),
    master: z.string().min(1).optional().meta({
      absent: '`connect` is given',
      description: 'Address of a cluster, such as `spark://host:7077`, or another of Spark’s masters',
    }),
    connect: z.string().startsWith('sc://', 'does not begin with sc://').optional().meta({
      absent: '`master` is given',
      description: 'Address of a Spark Connect server, such as `sc://host:15002`',
    }),
    shared_folder: z.string().startsWith('/', 'is not an absolute path').optional().meta({
      absent: 'the data directory',
      description: 'Folder that this machine and the workers see under the same absolute path',
    }),
    python: z.string().min(1).default('python3').describe('Python that has `pyspark` in the cluster’s version'),
    resources: z
      .strictObject({
        executor_memory: sparkMemory
          .optional()
          .meta({ absent: 'as Spark is configured', description: 'Memory of an executor' }),
        executor_cores: z
          .int()
          .min(1)
          .max(1024)
          .optional()
          .meta({ absent: 'as Spark is configured', description: 'Processors of an executor' }),
        cores: z
          .int()
          .min(1)
          .max(1_000_000)
          .optional()
          .meta({ absent: 'as the cluster gives', description: 'Processors of all executors together' }),
        driver_memory: sparkMemory
          .optional()
          .meta({ absent: 'as Spark is configured', description: 'Memory of the driver' }),
      })
      .default({}),
    time_limit_s: z
      .int()
      .min(1)
      .max(1_000_000)
      .default(6 * 3600)
      .meta({
        unit: 's',
        description: 'A run that Spark takes longer over fails, and the next one begins its files anew',
      }),
    executor_wait_s: z.int().min(1).max(1_000_000).default(600).meta({
      unit: 's',
      description: 'A run for which the cluster has no executor for longer fails; it warns after a minute',
    }),
  })
  .refine(({ master, connect }) => (master === undefined) !== (connect === undefined), {
    error: 'needs one of master and connect',
  });

export const engineSchema = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('duckdb').describe('Name of the engine') }),
    sparkEngine,
  ])
  .default({ kind: 'duckdb' })
  .describe(
    'Engine that stages logs into events: DuckDB within the run, or a [Spark cluster](../src/fleet/spark/README.md). The figures are the same',
  );
