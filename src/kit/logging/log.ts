import pino from 'pino';
import type { Level, Logger } from 'pino';
import { TurnOutput } from './turn-output.ts';
import { withTypedCommands } from '../text/typed-commands.ts';
import { visibleJson, visibleLines, visibleText } from '../text/visible-text.ts';

export type { Logger } from 'pino';

/** Destination of log lines: standard error, or a test's buffer. */
export interface LogOutput {
  readonly isTTY?: boolean | undefined;
  write(text: string): unknown;
}

/**
 * A logger for people on a terminal (short lines) and for machines elsewhere (one JSON object a line, UTC).
 * By default on standard error, since standard output belongs to the command's answer.
 */
export function createLogger(output: LogOutput = process.stderr, level: Level | 'silent' = 'info'): Logger {
  const options: pino.LoggerOptions = {
    level,
    base: null,
    timestamp: timeField,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: pino.stdSerializers.err },
    hooks: {
      logMethod(words, log) {
        log.apply(
          this,
          words.map((word) => (typeof word === 'string' ? withTypedCommands(word) : word)) as typeof words,
        );
      },
    },
  };
  const lines = { write: (text: string) => void output.write(visibleJson(text)) };
  if (output === process.stderr && output.isTTY !== true) return pino(options, new TurnOutput(lines));
  if (output.isTTY !== true) return pino(options, lines);
  return pino(options, { write: (line) => void output.write(shortLine(JSON.parse(line) as LogLine)) });
}

let fieldOfMillisecond = '';
let millisecond = Number.NaN;

/** Pino's own time field, but formatted once for all lines of a millisecond. */
function timeField(): string {
  const now = Date.now();
  if (now !== millisecond) {
    millisecond = now;
    fieldOfMillisecond = `,"time":"${new Date(now).toISOString()}"`;
  }
  return fieldOfMillisecond;
}

interface LogLine {
  level: string;
  time: string;
  msg?: string;
  err?: { message?: string };
  [field: string]: unknown;
}

/**
 * Formats `10:00:00 WARN  message  field=value`, the time in UTC. An error shows its message; its stack is for
 * machines. Further lines are indented, so that no text can look like a line of its own.
 */
function shortLine({ level, time, msg = '', err, ...fields }: LogLine): string {
  const shownLevel = level === 'info' ? '' : `${level.toUpperCase()} `;
  const shownFields = Object.entries(fields).map(
    ([name, value]) => `  ${name}=${visibleText(typeof value === 'string' ? value : JSON.stringify(value))}`,
  );
  const shownError = err?.message === undefined || err.message === msg ? '' : `  ${err.message}`;
  const line = `${time.slice(11, 19)} ${shownLevel}${msg}${shownFields.join('')}${shownError}`;
  return `${visibleLines(line).replaceAll('\n', '\n  ')}\n`;
}
