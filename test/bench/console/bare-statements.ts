import type { DuckDBConnection } from '@duckdb/node-api';
import { ConsoleSnapshot, TooSlowError } from '../../../src/console/data/console-snapshot.ts';
import { Address } from '../../../src/console/html/address.ts';
import { LiveDeliveries } from '../../../src/console/live/deliveries.ts';
import { consolePages } from '../../../src/console/pages.ts';
import { partOf, type Page, type PageRequest } from '../../../src/console/page/page.ts';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { readSettings } from '../../../src/kit/config/settings.ts';

/** Finds out which statements a page asks: it is made in this process, by the code that the console runs. */
export class StatementRecorder {
  readonly #snapshot: ConsoleSnapshot;
  readonly #data: DataDirectory;
  readonly #deliveries: LiveDeliveries;
  #asked: string[] = [];

  private constructor(snapshot: ConsoleSnapshot, data: DataDirectory) {
    this.#snapshot = snapshot;
    this.#data = data;
    this.#deliveries = new LiveDeliveries(data, readSettings(data));
    const ask = snapshot.askSql.bind(snapshot);
    snapshot.askSql = async (query, asking) => {
      const answer = await ask<never>(query, asking);
      this.#asked.push(answer.sql);
      return answer;
    };
  }

  static async open(data: DataDirectory): Promise<StatementRecorder> {
    return new StatementRecorder(await ConsoleSnapshot.open(data.current), data);
  }

  /** The statements of the page at an address, in their order; without the one that a page too slow broke off at. */
  async statements(path: string, target: string): Promise<string[]> {
    const page = consolePages.find((known) => known.path === path);
    if (page === undefined) throw new Error(`the console has no page ${path}; the bench names one that it had`);
    const address = Address.of(target);
    this.#asked = [];
    try {
      await page.show(this.#visit(page, address));
    } catch (error) {
      if (!(error instanceof TooSlowError)) throw error;
    }
    return this.#asked;
  }

  close(): void {
    this.#snapshot.retire();
  }

  #visit(page: Page, address: Address): PageRequest {
    const names = page.path.split('/');
    const parts = address.path.split('/');
    return {
      snapshot: this.#snapshot,
      path: Object.fromEntries(
        names.flatMap((name, place) =>
          name.startsWith(':') ? [[name.slice(1), decodeURIComponent(parts[place] ?? '')]] : [],
        ),
      ),
      address,
      part: partOf(address),
      user: { name: 'bench', role: 'operator' },
      health: { word: 'well', status: undefined, running: null, checkedAt: 0 },
      deliveries: this.#deliveries,
      data: this.#data,
      settings: readSettings(this.#data),
      jobs: { list: () => [], find: () => Promise.resolve(undefined) },
      now: Date.now(),
    };
  }
}

/** Milliseconds that DuckDB takes for statements one after the other, their rows read. */
export async function bareMilliseconds(connection: DuckDBConnection, statements: readonly string[]): Promise<number> {
  const begun = performance.now();
  for (const statement of statements) await (await connection.run(statement)).getRows();
  return performance.now() - begun;
}
