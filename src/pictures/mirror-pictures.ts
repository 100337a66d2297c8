import { join } from 'node:path';
import pLimit from 'p-limit';
import type { Effects } from '../kit/files/effects.ts';
import { severalAtOnce } from '../kit/files/several-at-once.ts';
import type { FeedPicture } from './feed-pictures.ts';
import type { Terminal } from '../kit/logging/progress.ts';
import { backoffWait } from '../kit/time/backoff.ts';
import { HostLimits } from './host-limits.ts';
import { isPictureIntact, mirroredFiles, sizeOf, storePicture } from './picture-files.ts';
import type { IndexedPicture, PictureIndex } from './picture-index.ts';
import type { PictureAnswer, PictureRequests } from './picture-request.ts';

const hour = 3_600_000;
const day = 24 * hour;

/** Time until a mirrored picture is checked again. */
const freshMilliseconds = day;
/** Waits before a picture that could not be had is asked for again. */
const failureBackoff = { first: hour, max: day };
/** Time for which a name that no snapshot has is kept: clients keep lists, and offers return. */
const retentionMilliseconds = 7 * day;
/** Advertisers' addresses often redirect to a content delivery network. */
const maxRedirects = 3;
/** Limit of all requests for one picture together, from the look-up of a host to the last byte. */
const pictureMilliseconds = 30_000;
/** Part of that which a host must have had before its silence counts: hosts before it may have used up the rest. */
const fairShare = 1 / 6;

/** Resources of a pass. */
interface Mirror {
  folder: string;
  index: PictureIndex;
  requests: PictureRequests;
  terminal: Terminal;
  stop: AbortSignal;
  pictureMilliseconds?: number | undefined;
}

/** Summary of a pass. */
export interface MirrorSummary {
  /** Named by the published snapshot. */
  wanted: number;
  asked: number;
  /** Pictures fetched for the first time or with new bytes. */
  mirrored: number;
  unchanged: number;
  failed: number;
  /** Due pictures left for the next pass: their hosts did not answer, or the pass was stopped. */
  left: number;
  /** Removed files that no name has any more. */
  removed: number;
  /** Counts of failures by reason. */
  problems: Record<string, number>;
}

/**
 * Makes one pass: fetches new pictures, checks those older than a day, removes unneeded files. A picture that fails
 * delays no other. Throws errors of the machine after all requests have ended.
 */
export async function mirrorPictures(
  wanted: readonly FeedPicture[],
  mirror: Mirror,
  effects: Effects,
): Promise<MirrorSummary> {
  const { folder, index, terminal, stop } = mirror;
  const now = effects.now();
  await severalAtOnce((await mirroredFiles(folder)).parts, (part) =>
    effects.files.remove(join(folder, part), 'picture: leftover removed'),
  );
  await effects.perform('pictures: wanted ones written down', async () => index.want(wanted, now));
  const due = await duePictures(mirror, now);
  const pass = new Pass(mirror, effects, wanted.length);
  terminal.progress.start('asking for pictures', due.length);
  try {
    const outcomes = await Promise.allSettled(due.map((picture) => pass.mirror(picture)));
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  } finally {
    terminal.progress.finish(`${pass.summary.mirrored} mirrored, ${pass.summary.failed} failed`);
  }
  if (!stop.aborted) pass.summary.removed = await sweep(mirror, now, effects);
  return pass.summary;
}

/**
 * Returns the pictures that are due, and those whose file is gone or has another size. A time more than a day ahead
 * comes from a clock that was set back since, and counts as due.
 */
async function duePictures({ folder, index }: Mirror, now: number): Promise<IndexedPicture[]> {
  const due: IndexedPicture[] = [];
  const resting: IndexedPicture[] = [];
  for (const picture of index.wantedAt(now))
    (picture.next_at <= now || picture.next_at > now + failureBackoff.max ? due : resting).push(picture);
  await severalAtOnce(resting, async (picture) => {
    if (picture.file !== null && (await sizeOf(folder, picture.file)) !== picture.bytes) due.push(picture);
  });
  return due;
}

/** Removes unneeded files and returns their number. */
async function sweep({ folder, index }: Mirror, now: number, effects: Effects): Promise<number> {
  await effects.perform('pictures: unwanted ones forgotten', async () => index.forget(now - retentionMilliseconds));
  const needed = index.files();
  const unneeded = (await mirroredFiles(folder)).whole.filter((file) => !needed.has(file));
  await severalAtOnce(unneeded, (file) => effects.files.remove(join(folder, file), 'picture: removed'));
  return unneeded.length;
}

class Pass {
  readonly summary: MirrorSummary;
  readonly #mirror: Mirror;
  readonly #effects: Effects;
  readonly #hosts = new HostLimits();
  /** Stores one file after the other: two addresses may have the same bytes. */
  readonly #storing = pLimit(1);
  #done = 0;
  /** The machine failed, and would fail for other pictures. */
  #broken = false;

  constructor(mirror: Mirror, effects: Effects, wanted: number) {
    this.#mirror = mirror;
    this.#effects = effects;
    this.summary = { wanted, asked: 0, mirrored: 0, unchanged: 0, failed: 0, left: 0, removed: 0, problems: {} };
  }

  async mirror(picture: IndexedPicture): Promise<void> {
    const limit = this.#mirror.pictureMilliseconds ?? pictureMilliseconds;
    let left = limit;
    let url = new URL(picture.address);
    try {
      for (let hops = 0; ; hops++) {
        const { host } = url;
        const outcome = await this.#hosts.run(host, async (): Promise<URL | 'done' | undefined> => {
          if (this.#broken || this.#mirror.stop.aborted) return undefined;
          if (hops === 0) this.summary.asked += 1;
          const began = performance.now();
          const given = left;
          const answer = await this.#ask(url, picture, given);
          left -= performance.now() - began;
          if (!isTimeout(answer) || given >= limit * fairShare) this.#hosts.answered(host, !isUnanswered(answer));
          if (answer.kind === 'redirect' && hops < maxRedirects) return answer.to;
          await this.#record(picture, url, answer);
          return 'done';
        });
        if (outcome === undefined) this.summary.left += 1;
        if (!(outcome instanceof URL)) break;
        url = outcome;
      }
    } catch (error) {
      if (!this.#mirror.stop.aborted) {
        this.#broken = true;
        throw error;
      }
      this.summary.left += 1;
    } finally {
      this.#mirror.terminal.progress.advance(++this.#done);
    }
  }

  /** Asks conditionally only the server that gave the file, and only while the file is intact. */
  async #ask(url: URL, picture: IndexedPicture, milliseconds: number): Promise<PictureAnswer> {
    const { folder, requests, stop } = this.#mirror;
    const isKnown =
      picture.file !== null &&
      picture.answered_by === url.href &&
      (picture.etag ?? picture.last_modified) !== null &&
      (await isPictureIntact(folder, picture.file));
    return requests.ask(url, isKnown ? picture : undefined, milliseconds, stop);
  }

  async #record(picture: IndexedPicture, url: URL, answer: PictureAnswer): Promise<void> {
    const { folder, index, terminal } = this.#mirror;
    const { name } = picture;
    const now = this.#effects.now();
    if (answer.kind === 'unchanged') {
      await this.#effects.perform('picture: indexed', async () => index.unchanged(name, now, now + freshMilliseconds));
      this.summary.unchanged += 1;
    } else if (answer.kind === 'picture') {
      const { bytes, ending, etag, lastModified } = answer;
      const file = await this.#storing(() => storePicture(folder, bytes, ending, this.#effects.files));
      const copy = { file, bytes: bytes.length, answered_by: url.href, etag, last_modified: lastModified };
      await this.#effects.perform('picture: indexed', async () =>
        index.mirrored(name, copy, now, now + freshMilliseconds),
      );
      this.summary[file === picture.file ? 'unchanged' : 'mirrored'] += 1;
    } else {
      const problem = answer.kind === 'redirect' ? 'redirects' : answer.problem;
      const wait = backoffWait(failureBackoff, picture.failures + 1);
      await this.#effects.perform('picture: indexed', async () => index.failed(name, problem, now, now + wait));
      terminal.logger.debug({ name, address: picture.address }, `a picture cannot be fetched: ${problem}`);
      this.summary.failed += 1;
      this.summary.problems[problem] = (this.summary.problems[problem] ?? 0) + 1;
    }
  }
}

function isTimeout(answer: PictureAnswer): boolean {
  return answer.kind === 'problem' && answer.problem === 'timeout';
}

/** True where a host did not answer: its next request would hardly succeed. */
function isUnanswered(answer: PictureAnswer): boolean {
  return answer.kind === 'problem' && ['dns', 'timeout', 'tls', 'connection'].includes(answer.problem);
}
