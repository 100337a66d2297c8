import { installedMoto } from '../support/installed-moto.ts';
import { pythonWith } from '../support/python-environment.ts';
import { runServiceTests } from '../support/service-tests.ts';

/**
 * `npm run test:lake -- [vitest's parameters]`: the lake, read by DuckDB's own extension, which our DuckDB does not have:
 * extensions are of one version of DuckDB, and the newest on the package index are of 1.5.5. Polars reads it by a
 * package of its own, beside a DuckDB of 2.0. Object storage is moto.
 */
await runServiceTests('lake', 'the tests of the lake', (tell) => ({
  OFFERLINE_TEST_DUCKLAKE: pythonWith(
    {
      name: 'duckdb-extension-ducklake',
      version: '1.5.5',
      beside: ['duckdb==1.5.5', 'duckdb-extension-httpfs==1.5.5'],
      size: '150 MB',
    },
    tell,
  ).python,
  OFFERLINE_TEST_POLARS: pythonWith(
    {
      name: 'ducklake-dataframe',
      version: '1.0.0',
      beside: ['polars==2.1.0', 'duckdb==2.0.1', 'pytz'],
      size: '350 MB',
    },
    tell,
  ).python,
  OFFERLINE_TEST_MOTO: installedMoto(tell),
}));
