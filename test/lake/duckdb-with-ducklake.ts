import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('ask.py', import.meta.url));

interface Answer {
  rows: (string | number | null)[][];
  /** Milliseconds that the statement took. */
  ms: number;
}

/** A session of a DuckDB, by default of that which has the extension, in a process and a working directory of its own. */
export class DuckLakeSession implements AsyncDisposable {
  readonly #running: ChildProcessWithoutNullStreams;
  readonly #answers: AsyncIterator<string>;

  constructor(python = process.env['OFFERLINE_TEST_DUCKLAKE'] ?? '') {
    this.#running = spawn(python, [program], { cwd: '/' });
    this.#answers = createInterface(this.#running.stdout)[Symbol.asyncIterator]();
    this.#running.stderr.pipe(process.stderr);
  }

  /** Throws with DuckDB's error. */
  async ask(statement: string): Promise<Answer> {
    this.#running.stdin.write(`${JSON.stringify(statement)}\n`);
    const { value } = await this.#answers.next();
    if (value === undefined) throw new Error('the session has ended');
    const answer = JSON.parse(value) as Answer | { error: string };
    if ('error' in answer) throw new Error(`${answer.error}\n${statement}`);
    return answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#running.stdin.end();
    if (this.#running.exitCode === null) await once(this.#running, 'exit');
  }
}

/** Runs statements in a session of their own. */
export async function askDuckLake(...statements: string[]): Promise<Answer[]> {
  await using session = new DuckLakeSession();
  const answers: Answer[] = [];
  for (const statement of statements) answers.push(await session.ask(statement));
  return answers;
}
