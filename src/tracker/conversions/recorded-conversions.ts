import { hash, randomBytes } from 'node:crypto';
import type { ConversionKind } from '../../kit/vocabulary/values.ts';
import { conversionKinds } from '../../kit/vocabulary/values.ts';
import type { ConversionRow } from './report/conversion-row.ts';

/** Days since the epoch, UTC. */
export type DayNumber = number;

/** What of a row makes another one of the same id a copy of it. */
export type ConversionContent = Pick<ConversionRow, 'conversionId' | 'kind' | 'clickId' | 'eventId' | 'payout'>;

/** How a row stands to those recorded before. */
export type Standing = 'new' | 'duplicate' | 'contradiction';

const firstSlots = 1024;
/** Twelve million conversions, in 302 MB. */
const mostSlots = 2 ** 24;
const fullest = 0.75;
/** How long a copy is known as one. */
export const daysRemembered = 90;

/**
 * Which conversions were recorded in the last 90 days, and by digests what they said: 18 bytes a slot, so that a
 * million takes 38 MB. Beyond the room that there is the oldest days are forgotten; the pipeline tells all duplicates
 * anyway.
 */
export class RecordedConversions {
  /** Nobody can choose ids that fall into the same slots. */
  readonly #salt = randomBytes(8).toString('hex');
  readonly #mostSlots: number;
  #table = new Table(firstSlots);
  /** Days before it are forgotten. */
  #oldest: DayNumber = 0;

  constructor(slots: number = mostSlots) {
    this.#mostSlots = slots;
  }

  get size(): number {
    return this.#table.size;
  }

  get bytes(): number {
    return this.#table.bytes;
  }

  /** `today`: what is recorded longer before than it is remembered counts as new. */
  standingOf(content: ConversionContent, today: DayNumber): Standing {
    const [says, click] = [saysOf(content), digest32(content.clickId)];
    const own = this.#find(content.conversionId, content.kind, today);
    if (own !== undefined) return own.says === says && own.click === click ? 'duplicate' : 'contradiction';
    // A conversion that is taken back is of the click that it was credited to.
    const others = conversionKinds.map((kind) => this.#find(content.conversionId, kind, today));
    return others.some((other) => other !== undefined && other.click !== click) ? 'contradiction' : 'new';
  }

  has(conversionId: string, kind: ConversionKind, today: DayNumber): boolean {
    return this.#find(conversionId, kind, today) !== undefined;
  }

  add(content: ConversionContent, day: DayNumber): void {
    if (this.#table.size >= this.#table.slots * fullest) this.#makeRoom(day);
    this.#table.put(...this.#keyOf(content.conversionId, content.kind), {
      says: saysOf(content),
      click: digest32(content.clickId),
      day,
    });
  }

  #find(conversionId: string, kind: ConversionKind, today: DayNumber): Entry | undefined {
    const entry = this.#table.get(...this.#keyOf(conversionId, kind));
    return entry !== undefined && entry.day >= Math.max(this.#oldest, today - daysRemembered) ? entry : undefined;
  }

  #keyOf(conversionId: string, kind: ConversionKind): [high: number, low: number] {
    // As a text of bytes, which takes a third of the time of a buffer.
    const digest = hash('md5', `${this.#salt}${kind}:${conversionId}`, 'binary');
    return [word(digest, 0), word(digest, 4)];
  }

  #makeRoom(today: DayNumber): void {
    this.#oldest = Math.max(this.#oldest, today - daysRemembered);
    const slots = this.#table.slots;
    let kept = this.#table.sizeSince(this.#oldest);
    // Where all that may be had is full, so many of the oldest days go that half of it is free.
    while (slots >= this.#mostSlots && kept > slots / 2 && this.#oldest < today)
      kept = this.#table.sizeSince(++this.#oldest);
    // A day that fills all by itself is forgotten up to here.
    const isOneDay = slots >= this.#mostSlots && kept > slots / 2;
    const table = new Table(kept > slots / 2 && !isOneDay ? slots * 2 : slots);
    if (!isOneDay) this.#table.copyTo(table, this.#oldest);
    this.#table = table;
  }
}

interface Entry {
  says: number;
  click: number;
  day: DayNumber;
}

/** Open addressing over columns of numbers. A slot of day 0 is empty. */
class Table {
  readonly slots: number;
  readonly #high: Uint32Array;
  readonly #low: Uint32Array;
  readonly #says: Uint32Array;
  readonly #click: Uint32Array;
  readonly #day: Uint16Array;
  #size = 0;

  /** `slots`: a power of two. */
  constructor(slots: number) {
    this.slots = slots;
    this.#high = new Uint32Array(slots);
    this.#low = new Uint32Array(slots);
    this.#says = new Uint32Array(slots);
    this.#click = new Uint32Array(slots);
    this.#day = new Uint16Array(slots);
  }

  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    return this.slots * (4 * Uint32Array.BYTES_PER_ELEMENT + Uint16Array.BYTES_PER_ELEMENT);
  }

  get(high: number, low: number): Entry | undefined {
    const slot = this.#slotOf(high, low);
    const day = this.#day[slot] as number;
    return day === 0 ? undefined : { says: this.#says[slot] as number, click: this.#click[slot] as number, day };
  }

  put(high: number, low: number, { says, click, day }: Entry): void {
    const slot = this.#slotOf(high, low);
    if (this.#day[slot] === 0) this.#size++;
    this.#high[slot] = high;
    this.#low[slot] = low;
    this.#says[slot] = says;
    this.#click[slot] = click;
    this.#day[slot] = day;
  }

  sizeSince(oldest: DayNumber): number {
    return this.#day.reduce((sum, day) => sum + (day !== 0 && day >= oldest ? 1 : 0), 0);
  }

  copyTo(other: Table, oldest: DayNumber): void {
    for (const [slot, day] of this.#day.entries()) {
      if (day === 0 || day < oldest) continue;
      const [says, click] = [this.#says[slot] as number, this.#click[slot] as number];
      other.put(this.#high[slot] as number, this.#low[slot] as number, { says, click, day });
    }
  }

  /** That of the key, or the empty one where it belongs. */
  #slotOf(high: number, low: number): number {
    const mask = this.slots - 1;
    let slot = low & mask;
    while (this.#day[slot] !== 0 && (this.#high[slot] !== high || this.#low[slot] !== low)) slot = (slot + 1) & mask;
    return slot;
  }
}

function saysOf({ eventId, payout }: ConversionContent): number {
  return digest32(`${payout ?? ''}:${eventId ?? ''}`);
}

/** FNV-1a: these need only differ by chance, since whoever chooses them deceives nobody but himself. */
function digest32(text: string): number {
  let digest = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) digest = Math.imul(digest ^ text.charCodeAt(at), 0x01000193);
  return digest >>> 0;
}

function word(bytes: string, at: number): number {
  const byte = (index: number) => bytes.charCodeAt(at + index);
  return ((byte(0) << 24) | (byte(1) << 16) | (byte(2) << 8) | byte(3)) >>> 0;
}
