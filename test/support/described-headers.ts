import { expect } from 'vitest';

/** Of every HTTP answer, whatever it says. */
const ofTransport = new Set([
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
]);

function isAllowed(
  value: string,
  { type, const: only = value, enum: words = [value], pattern = '', minimum = 0, format }: any,
): boolean {
  if (type === 'integer' && !(/^\d+$/.test(value) && Number(value) >= minimum)) return false;
  if (format === 'date-time' && !/^\d{4}-\d\d-\d\dT.*Z$/.test(value)) return false;
  return value === only && words.includes(value) && new RegExp(pattern).test(value);
}

/** An answer has all headers that its description requires, and no others than it describes. */
export function expectDescribed(described: any, { headers }: Response, about: string): void {
  const known = new Map(
    Object.entries<any>(described?.headers ?? {}).map(([name, header]) => [name.toLowerCase(), header]),
  );
  const missing = [...known].filter(([name, { required }]) => required && !headers.has(name)).map(([name]) => name);
  const others = [...headers].filter(
    ([name, value]) => !ofTransport.has(name) && !(known.has(name) && isAllowed(value, known.get(name).schema)),
  );
  expect({ missing, others }, about).toEqual({ missing: [], others: [] });
}
