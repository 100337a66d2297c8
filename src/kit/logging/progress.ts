import { MultiBar, Presets } from 'cli-progress';
import type { SingleBar } from 'cli-progress';
import { createLogger } from './log.ts';
import type { Logger, LogOutput } from './log.ts';
import { visibleText } from '../text/visible-text.ts';

/** Progress of the current step. A new step ends the one before. */
export interface Progress {
  /**
   * Without a total only the count is shown. The caller ends the step in a `finally`, else a terminal keeps drawing.
   */
  start(label: string, total?: number): void;
  /** Sets how much of the total is done by now, not since the last call. Cheap enough for a call per item. */
  advance(done: number): void;
  /** Ends the step. The summary becomes a lasting line; without one a terminal just forgets the step. */
  finish(summary?: string): void;
}

/** The output of a command at work: log lines, and progress that does not tear them apart. */
export interface Terminal {
  readonly logger: Logger;
  readonly progress: Progress;
}

/**
 * Returns a progress bar on a terminal, plain log lines elsewhere, both on standard error by default. The log reports
 * the progress of a step at most every two seconds of `now`, a clock in milliseconds.
 */
export function createTerminal(
  output: LogOutput & NodeJS.WritableStream = process.stderr,
  now: () => number = () => performance.now(),
): Terminal {
  if (output.isTTY !== true) {
    const logger = createLogger(output);
    return { logger, progress: new LoggedProgress(logger, now) };
  }
  const progress = new TerminalProgress(output);
  return { logger: createLogger({ isTTY: true, write: (line) => progress.writeAbove(line) }), progress };
}

/** Progress that shows nothing. */
export const noProgress: Progress = { start() {}, advance() {}, finish() {} };

/** Bounds the progress lines in a log that programs follow. */
const minMillisecondsBetweenLines = 2000;

class LoggedProgress implements Progress {
  readonly #logger: Logger;
  readonly #now: () => number;
  #step: { label: string; total: number | undefined; loggedAt: number } | undefined;

  constructor(logger: Logger, now: () => number) {
    this.#logger = logger;
    this.#now = now;
  }

  start(label: string, total?: number): void {
    this.#step = { label, total, loggedAt: this.#now() };
    this.#logger.info(total === undefined ? {} : { total }, label);
  }

  advance(done: number): void {
    const step = this.#step;
    if (step === undefined) return;
    const now = this.#now();
    if (now - step.loggedAt < minMillisecondsBetweenLines) return;
    step.loggedAt = now;
    this.#logger.info({ done, ...(step.total === undefined ? {} : { total: step.total }) }, step.label);
  }

  finish(summary?: string): void {
    if (this.#step !== undefined && summary !== undefined) this.#logger.info(`${this.#step.label}: ${summary}`);
    this.#step = undefined;
  }
}

class TerminalProgress implements Progress {
  readonly #output: LogOutput & NodeJS.WritableStream;
  #step: { label: string; bars: MultiBar; bar: SingleBar; started: number } | undefined;

  constructor(output: LogOutput & NodeJS.WritableStream) {
    this.#output = output;
  }

  start(step: string, total?: number): void {
    this.finish();
    const label = visibleText(step);
    const bars = new MultiBar(
      {
        stream: this.#output,
        format:
          total === undefined
            ? '{label} {value}'
            : '{label} [{bar}] {percentage}% of {total}, {rate} a second, {eta_formatted} left',
        barsize: 30,
        // Fast enough to look alive.
        fps: 8,
        clearOnComplete: true,
        // The command ends itself on a signal, and its `finally` ends the step.
        gracefulExit: false,
      },
      Presets.legacy,
    );
    this.#step = { label, bars, bar: bars.create(total ?? 0, 0, { label, rate: '-' }), started: performance.now() };
  }

  advance(done: number): void {
    if (this.#step === undefined) return;
    const { bar, started } = this.#step;
    bar.update(done, { rate: rateOf(done, performance.now() - started) });
  }

  finish(summary?: string): void {
    if (this.#step === undefined) return;
    const { label, bars } = this.#step;
    this.#step = undefined;
    // Writes the log lines that wait for the next drawing.
    bars.update();
    bars.stop();
    if (summary !== undefined) this.#output.write(`${label}: ${visibleText(summary)}\n`);
  }

  writeAbove(line: string): void {
    if (this.#step === undefined) this.#output.write(line);
    else this.#step.bars.log(line);
  }
}

/** Two digits for slow steps, whole numbers for fast ones. */
function rateOf(done: number, milliseconds: number): string {
  const rate = (done / Math.max(1, milliseconds)) * 1000;
  return rate < 10 ? rate.toPrecision(2) : Math.round(rate).toLocaleString('en');
}
