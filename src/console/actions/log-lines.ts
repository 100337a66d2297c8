/** A line of a command's log, as a page shows it. */
export interface JobLine {
  /** UTC; null for a line that is not from our logger. */
  time: string | null;
  level: string;
  text: string;
  /** Progress of a step, where the line has it. */
  done: number | null;
  total: number | null;
}

const maxTextLength = 500;

/** The last lines of a log of JSON objects; any other line, such as a message of Node, stays as it is. */
export function jobLines(log: string, max: number): JobLine[] {
  return log
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-max)
    .map(jobLine);
}

/** The reason of a command's end, which may have several lines: the last error, else the last line. */
export function errorLine(log: string): string | null {
  const lines = jobLines(log, Infinity);
  // A wrong option is refused by the parser of the command line, which adds a line of advice; Node adds its version.
  const line = lines.findLast(({ level }) => level === 'error' || level === 'fatal') ?? lines.findLast(isPlainError);
  return (line ?? lines.at(-1))?.text ?? null;
}

function isPlainError({ time, text }: JobLine): boolean {
  return time === null && /^\w*error:/i.test(text);
}

function jobLine(line: string): JobLine {
  const fields = parsed(line);
  if (fields === undefined) return { time: null, level: 'info', text: shownText(line), done: null, total: null };
  const { time, level, msg, done, total } = fields;
  return {
    time: typeof time === 'string' ? time : null,
    level: typeof level === 'string' ? level : 'info',
    text: shownText(typeof msg === 'string' ? msg : ''),
    done: typeof done === 'number' ? done : null,
    total: typeof total === 'number' ? total : null,
  };
}

function parsed(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Removes users and queries of addresses: our log lines name hosts only, but an error of a library may have a whole
 * one, such as that of a database.
 */
function shownText(text: string): string {
  const shown = text.replaceAll(
    /([a-z][a-z\d+.-]{0,30}:\/\/)(?:[^\s/?#]*@)?([^\s?#"'`]*)([?#][^\s"'`]*)?/gi,
    (_address, scheme: string, host: string, query?: string) => scheme + host + (query === undefined ? '' : '?…'),
  );
  return shown.length > maxTextLength ? `${shown.slice(0, maxTextLength)}…` : shown;
}
