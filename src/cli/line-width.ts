import { visibleText } from '../kit/text/visible-text.ts';

/** Width of lines where there is no terminal. */
const usualWidth = 120;
const minWidth = 60;

/** Returns the width of the terminal's lines. */
export function lineWidth(): number {
  return Math.max(minWidth, process.stdout.columns || usualWidth);
}

/** Cuts a text to one line of so many characters, control characters made visible. */
export function cutText(text: string, width: number): string {
  const visible = visibleText(text);
  return visible.length <= width ? visible : `${visible.slice(0, Math.max(0, width - 1))}…`;
}

/** Cuts each line of a text, but those that have to stay whole. */
export function cutLines(text: string, width: number, isWhole: (line: string) => boolean): string {
  const lines = text.split('\n');
  return lines.map((line) => (line.length <= width || isWhole(line) ? line : cutText(line, width))).join('\n');
}

/** Lines of whole words, each behind so many blanks. */
export function wrapped(text: string, width: number, indent: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of visibleText(text).split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (longer.length > width - indent && line !== '') {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line].map((each) => ' '.repeat(indent) + cutText(each, width - indent));
}
