import { createInterface, type Interface } from 'node:readline';
import { Writable } from 'node:stream';
import { StoppedError } from '../kit/errors/errors.ts';
import { visibleLines } from '../kit/text/visible-text.ts';
import { cutText, lineWidth } from './line-width.ts';

/** Questions to the person at the terminal. */
export interface Prompts {
  /** Shows lines above the next question. */
  show(text: string): void;
  /** Returns the trimmed answer; `otherwise` for an empty one, where there is such. */
  ask(question: string, otherwise?: string): Promise<string>;
  /** Returns an answer that is not shown while it is typed. */
  askHidden(question: string): Promise<string>;
  close(): void;
}

type Output = NodeJS.WritableStream & { readonly columns?: number };

/** Questions on a terminal, answered line by line. Throws `StoppedError` where the input ends, as by Ctrl-C. */
export class TerminalPrompts implements Prompts {
  readonly #output: Output;
  readonly #lines: Interface;
  /** Lines come in before they are asked for where they are pasted, or come out of a file. */
  readonly #answers: AsyncIterator<string>;
  #isHidden = false;

  /** `interrupt`: what Ctrl-C does besides, which a terminal that is read line by line does not do by itself. */
  constructor(
    input: NodeJS.ReadableStream & { readonly isTTY?: boolean },
    output: Output,
    interrupt: () => void = () => undefined,
  ) {
    this.#output = output;
    const shown = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        if (!this.#isHidden) output.write(chunk);
        done();
      },
    });
    // Long lines wrap by the terminal's width.
    Object.defineProperty(shown, 'columns', { get: () => output.columns });
    this.#lines = createInterface({ input, output: shown, terminal: input.isTTY === true, historySize: 0 });
    this.#lines.on('SIGINT', () => {
      this.#lines.close();
      interrupt();
    });
    this.#answers = this.#lines[Symbol.asyncIterator]();
  }

  show(text: string): void {
    this.#output.write(`${visibleLines(text)}\n`);
  }

  async ask(question: string, otherwise?: string): Promise<string> {
    const answer = await this.#next(otherwise === undefined ? `${question}: ` : `${question} [${otherwise}]: `);
    return answer === '' ? (otherwise ?? '') : answer;
  }

  async askHidden(question: string): Promise<string> {
    const answer = this.#next(`${question} (is not shown): `);
    this.#isHidden = true;
    try {
      return await answer;
    } finally {
      this.#isHidden = false;
      this.#output.write('\n');
    }
  }

  close(): void {
    this.#lines.close();
  }

  async #next(question: string): Promise<string> {
    this.#lines.setPrompt(visibleLines(question));
    this.#lines.prompt();
    const line = await this.#answers.next();
    if (line.done === true) throw new StoppedError('the input ended: nothing was written');
    return line.value.trim();
  }
}

/** A choice, and what is said of it. */
export interface Choice {
  name: string;
  about: string;
}

/** Asks for one of some choices, by its number or name, until it is one. */
export async function choose(prompts: Prompts, question: string, choices: readonly Choice[]): Promise<string> {
  const longest = Math.max(...choices.map(({ name }) => name.length));
  const digits = String(choices.length).length;
  prompts.show(
    choices
      .map(({ name, about }, index) => `${String(index + 1).padStart(digits)}. ${name.padEnd(longest)}  ${about}`)
      .map((line) => cutText(line, lineWidth()))
      .join('\n'),
  );
  for (;;) {
    const answer = await prompts.ask(question);
    const chosen = choices.find(({ name }, index) => answer === name || answer === String(index + 1));
    if (chosen !== undefined) return chosen.name;
    prompts.show(`"${answer}" is none of them: type a number from 1 to ${choices.length}, or a name`);
  }
}

/** Asks a question of yes or no. */
export async function confirm(prompts: Prompts, question: string, otherwise: boolean): Promise<boolean> {
  for (;;) {
    const answer = (await prompts.ask(`${question} (yes or no)`, otherwise ? 'yes' : 'no')).toLowerCase();
    if (answer === 'yes' || answer === 'y') return true;
    if (answer === 'no' || answer === 'n') return false;
  }
}
