/** One line of what a command told while it worked, as a page may show it. */
export interface JobLine {
  /** UTC; null of a line that is not from our own log. */
  time: string | null;
  level: string;
  text: string;
  /** How far a step is, where the line tells. */
  done: number | null;
  total: number | null;
}

const longestText = 500;

/** The last lines of a log, a JSON object each; what is none, such as a message of Node itself, is shown as it is. */
export function jobLines(log: string, most: number): JobLine[] {
  return log
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-most)
    .map(jobLine);
}

/** The line that says why a command ended: the last error, else the last line. */
export function errorLine(log: string): string | null {
  const lines = jobLines(log, Infinity);
  const line = lines.findLast(({ level }) => level === 'error' || level === 'fatal') ?? lines.at(-1);
  return line === undefined ? null : (line.text.split('\n')[0] ?? null);
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

/** Logs name hosts only. Should an address come in all the same, by way of a library's error, its query is cut off. */
function shownText(text: string): string {
  const shown = text.replaceAll(/(\bhttps?:\/\/)(?:[^\s/?#@]*@)?([^\s?#"'`]*)[?#][^\s"'`]*/gi, '$1$2?…');
  return shown.length > longestText ? `${shown.slice(0, longestText)}…` : shown;
}
