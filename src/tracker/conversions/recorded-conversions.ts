import { hash, randomBytes } from 'node:crypto';
import { conversionKinds, type ConversionKind } from '../../kit/vocabulary/values.ts';
import { DigestTable, type DayNumber, type DigestEntry } from './digest-table.ts';
import type { ConversionRecord } from './report/conversion-record.ts';

/** The fields by which another row of the same id is a copy, or contradicts. */
export type ConversionContent = Pick<ConversionRecord, 'conversionId' | 'kind' | 'clickId' | 'eventId' | 'payout'>;

/** Outcome of comparing a row with those recorded before. */
export type Comparison = 'new' | 'duplicate' | 'contradiction';

const minSlots = 1024;
/** Twelve million conversions, in 302 MB. */
const defaultMaxSlots = 2 ** 24;
const maxFilled = 0.75;
/** Days for which a copy is known as one. */
export const daysRemembered = 90;

/**
 * Conversions that were recorded in the last 90 days, with digests of their content: a million takes 38 MB. Where the
 * table is full the oldest days are forgotten; the pipeline knows all duplicates anyway.
 */
export class RecordedConversions {
  /** Keeps anyone from choosing ids that fall into the same slots. */
  readonly #salt = randomBytes(8).toString('hex');
  readonly #maxSlots: number;
  #table = new DigestTable(minSlots);
  /** Days before it were forgotten when room was made. */
  #oldest: DayNumber = 0;

  constructor(maxSlots: number = defaultMaxSlots) {
    this.#maxSlots = maxSlots;
  }

  get size(): number {
    return this.#table.size;
  }

  get bytes(): number {
    return this.#table.bytes;
  }

  /** Compares a row with the one of its id and kind, if that is remembered on the day `today`. */
  compare(row: ConversionContent, today: DayNumber): Comparison {
    const [content, click] = [contentDigest(row), digest32(row.clickId)];
    const own = this.#find(row.conversionId, row.kind, today);
    // An announcement that changes brings nothing new: the decision counts.
    const isSame = (entry: DigestEntry) => entry.content === content || row.kind === 'pending';
    if (own !== undefined) return isSame(own) && own.click === click ? 'duplicate' : 'contradiction';
    // A conversion that is taken back is of the click that it was credited to.
    const others = conversionKinds.map((kind) => this.#find(row.conversionId, kind, today));
    return others.some((other) => other !== undefined && other.click !== click) ? 'contradiction' : 'new';
  }

  has(conversionId: string, kind: ConversionKind, today: DayNumber): boolean {
    return this.#find(conversionId, kind, today) !== undefined;
  }

  add(row: ConversionContent, day: DayNumber): void {
    if (this.#table.size >= this.#table.slots * maxFilled) this.#makeRoom(day);
    this.#table.put(...this.#keyOf(row.conversionId, row.kind), {
      content: contentDigest(row),
      click: digest32(row.clickId),
      day,
    });
  }

  #find(conversionId: string, kind: ConversionKind, today: DayNumber): DigestEntry | undefined {
    const entry = this.#table.get(...this.#keyOf(conversionId, kind));
    return entry !== undefined && entry.day >= today - daysRemembered ? entry : undefined;
  }

  #keyOf(conversionId: string, kind: ConversionKind): [high: number, low: number] {
    // As a text of bytes, which takes a third of the time of a buffer.
    const digest = hash('md5', `${this.#salt}${kind}:${conversionId}`, 'binary');
    return [word(digest, 0), word(digest, 4)];
  }

  #makeRoom(today: DayNumber): void {
    // A clock that was ahead has left a day that is still to come.
    if (this.#oldest > today) this.#oldest = 0;
    this.#oldest = Math.max(this.#oldest, today - daysRemembered);
    const slots = this.#table.slots;
    let kept = this.#table.sizeSince(this.#oldest);
    // In the largest table so many of the oldest days are forgotten that half of it is free.
    while (slots >= this.#maxSlots && kept > slots / 2 && this.#oldest < today)
      kept = this.#table.sizeSince(++this.#oldest);
    // A single day that fills half of it is forgotten up to now.
    const isOneDay = slots >= this.#maxSlots && kept > slots / 2;
    const table = new DigestTable(kept > slots / 2 && !isOneDay ? slots * 2 : slots);
    if (!isOneDay) this.#table.copyTo(table, this.#oldest);
    this.#table = table;
  }
}

function contentDigest({ eventId, payout }: ConversionContent): number {
  return digest32(`${payout ?? ''}:${eventId ?? ''}`);
}

/** FNV-1a. A sender that makes two of its own reports collide harms only itself. */
function digest32(text: string): number {
  let digest = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) digest = Math.imul(digest ^ text.charCodeAt(at), 0x01000193);
  return digest >>> 0;
}

function word(bytes: string, at: number): number {
  const byte = (index: number) => bytes.charCodeAt(at + index);
  return ((byte(0) << 24) | (byte(1) << 16) | (byte(2) << 8) | byte(3)) >>> 0;
}
