/** Returns a message of several lines in one: the first, with the next where it only announces it. */
export function headline(message: string): string {
  const [first = '', second = ''] = message.split('\n');
  return first.endsWith(':') ? `${first} ${second.trim()}`.trimEnd() : first;
}
