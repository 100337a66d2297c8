import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { describeIssue } from '../../kit/config/describe-issue.ts';
import { describeProblems } from '../../kit/config/json-document.ts';
import { openRegularFile } from '../../kit/config/regular-file.ts';
import { OfferlineError } from '../../kit/errors/errors.ts';
import { NewerDataError } from '../../kit/errors/newer-data.ts';
import { decimalSchema } from '../../kit/vocabulary/offer-fields.ts';
import { devices, versionStatuses } from '../../kit/vocabulary/values.ts';

/** The payouts of an offer. */
const terms = {
  /** Gross USD. */
  payout: decimalSchema,
  /** Milestones; none for a single-reward offer. */
  events: z.array(z.strictObject({ event_id: z.string(), payout: decimalSchema })),
};

/** An offer as the tracker knows it. */
const routeSchema = z.strictObject({
  offer_id: z.int().min(1),
  source: z.string(),
  external_id: z.string(),
  /** Offers that are gone stay, since conversions of their clicks still come. */
  status: z.enum(versionStatuses),
  ...terms,
  /**
   * Earlier payouts, the oldest first, each until a moment in milliseconds since the epoch: users who clicked then were
   * promised them. They reach back as far as a click may be credited.
   */
  former: z.array(z.strictObject({ until: z.int(), ...terms })).optional(),
  destination_url: z.string().nullable(),
  /** Empty means worldwide. */
  countries: z.array(z.string()),
  /** Empty means all. */
  devices: z.array(z.enum(devices)),
  android_min_os: z.string().nullable(),
  ios_min_os: z.string().nullable(),
  /** For sites' rules. */
  categories: z.array(z.string()).default([]),
  formats: z.array(z.string()).default([]),
  daily_cap: z.int().min(0).nullable(),
  daily_click_cap: z.int().min(0).nullable(),
});
export type Route = z.output<typeof routeSchema>;

/** Of what is written. Files of format 1, without categories and formats, are read, too. */
const routesFormat = 2;

/** The first line of a file of routes. */
const headSchema = z.strictObject({
  format: z.literal([1, routesFormat]),
  snapshot_id: z.string(),
  as_of: z.string(),
  offers: z.int().min(0),
  /** Digest of all lines after this one. */
  sha256: z.string(),
});
export type RoutesHead = z.output<typeof headSchema>;

/** The routes of a snapshot. */
export interface Routes {
  head: RoutesHead;
  offers: ReadonlyMap<number, Route>;
}

/** A file of routes that was changed or cut since it was written. */
class BrokenRoutesError extends OfferlineError {}

const newline = 10;
/** Bytes that are read at a time; clicks are answered in between. */
const chunkBytes = 64 * 1024;
/** Bytes of a line at most; a longer one is no offer. */
const maxLine = 32 * 2 ** 20;

/** A file of routes: its head, then a line of JSON for each offer. */
export function routesText(about: Pick<RoutesHead, 'snapshot_id' | 'as_of'>, lines: readonly Buffer[]): Buffer {
  const hash = createHash('sha256');
  for (const line of lines) hash.update(line);
  const head: RoutesHead = { format: routesFormat, ...about, offers: lines.length, sha256: hash.digest('hex') };
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...lines]);
}

/** Reads the first line only. Throws `BrokenRoutesError`, or the disk's error. */
export async function readRoutesHead(path: string): Promise<RoutesHead> {
  for await (const line of linesOf(path, () => {})) return parsed(headSchema, line, path, 1);
  throw new BrokenRoutesError(`${path} is empty`);
}

/**
 * Reads a file of routes, a part at a time, so that nothing else waits for long. Throws `BrokenRoutesError` where it is
 * not whole or not as it was written, or the disk's error.
 */
export async function readRoutes(path: string): Promise<Routes> {
  const hash = createHash('sha256');
  const offers = new Map<number, Route>();
  let head: RoutesHead | undefined;
  let number = 0;
  for await (const line of linesOf(path, (bytes) => void hash.update(bytes))) {
    number++;
    if (head === undefined) {
      head = parsed(headSchema, line, path, number);
      continue;
    }
    const route = parsed(routeSchema, line, path, number);
    offers.set(route.offer_id, route);
  }
  if (head === undefined) throw new BrokenRoutesError(`${path} is empty`);
  if (offers.size !== head.offers)
    throw new BrokenRoutesError(`${path} is not whole: its head says ${head.offers} offers, and it has ${offers.size}`);
  if (hash.digest('hex') !== head.sha256)
    throw new BrokenRoutesError(`${path} is not as it was written: its lines do not have the sha256 of its head`);
  return { head, offers };
}

/** Yields the lines of a file. Calls `seeBody` with all that follows the first line, piece by piece. */
async function* linesOf(path: string, seeBody: (bytes: Buffer) => void): AsyncGenerator<string, void> {
  const file = await openRegularFile(path);
  try {
    /** Pieces of the line that has not ended. */
    const begun: Buffer[] = [];
    let begunBytes = 0;
    let isFirst = true;
    for (;;) {
      const { bytesRead, buffer } = await file.read({ buffer: Buffer.allocUnsafe(chunkBytes) });
      if (bytesRead === 0) break;
      let rest: Buffer = buffer.subarray(0, bytesRead);
      if (rest.includes(newline)) rest = Buffer.concat([...begun.splice(0), rest]);
      let from = 0;
      for (let end = rest.indexOf(newline); end !== -1; end = rest.indexOf(newline, from)) {
        if (!isFirst) seeBody(rest.subarray(from, end + 1));
        isFirst = false;
        yield rest.toString('utf8', from, end);
        from = end + 1;
      }
      begun.push(rest.subarray(from));
      begunBytes = from === 0 ? begunBytes + rest.length : rest.length - from;
      if (begunBytes > maxLine) throw new BrokenRoutesError(`${path} has more than ${maxLine} bytes in a line`);
      await setImmediate();
    }
    if (begunBytes > 0) throw new BrokenRoutesError(`${path} ends within a line`);
  } finally {
    await file.close();
  }
}

function parsed<Schema extends z.ZodType>(
  schema: Schema,
  line: string,
  path: string,
  number: number,
): z.output<Schema> {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    // The parser's message quotes the line, whose destination must not be shown.
    throw new BrokenRoutesError(`${path}, line ${number} is not valid JSON`);
  }
  const { format } = json as { format?: unknown };
  if (Number(format) > routesFormat) throw new NewerDataError(path, Number(format), routesFormat);
  const result = schema.safeParse(json, { error: describeIssue });
  // A route is one line of its file.
  if (!result.success)
    throw new BrokenRoutesError(`${path}, line ${number} cannot be used:\n${describeProblems(result.error)}`);
  return result.data;
}
