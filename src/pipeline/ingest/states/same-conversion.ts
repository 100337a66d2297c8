import { compareMoments, type Moment } from '../../../kit/time/moment.ts';
import type { StateRow } from './state-rows.ts';

/** Milestone of a row; null: the offer itself. */
type Milestone = string | null;

/** What a conversion was credited for so far. */
export interface CreditedMilestones {
  /** Milestones of its credits as a JSON list, the last one credited last; null where not known. */
  events: string | null;
  /** When that happened; null where not known. */
  occurred_at: Moment | null;
}

/** Milestones that one file lists under each conversion id: of nearly all ids one. */
export class ListedEvents {
  readonly #first = new Map<string, Milestone>();
  readonly #others = new Map<string, Set<Milestone>>();

  add(row: StateRow): void {
    const { id } = row;
    const event = eventOf(row);
    if (!this.#first.has(id)) this.#first.set(id, event);
    else if (this.#first.get(id) !== event) this.#others.set(id, (this.#others.get(id) ?? new Set()).add(event));
  }

  has(id: string, event: Milestone): boolean {
    return this.#first.get(id) === event || this.#others.get(id)?.has(event) === true;
  }
}

/**
 * Returns whether a row is about the conversion that was emitted under its id. One of another click is another
 * network's. One of another milestone than is credited is another conversion where its file lists the credited one too,
 * where the id was credited for it before, or where it happened at another moment. Else the network has corrected the
 * milestone, or its rows name milestones only now.
 */
export function isSameConversion(
  row: StateRow,
  emitted: CreditedMilestones & { click_id: string | null; state: string },
  listed: ListedEvents,
): boolean {
  if ((emitted.click_id ?? row.clickId) !== row.clickId) return false;
  const events = eventsOf(emitted);
  const own = events.at(-1);
  const event = eventOf(row);
  // What is taken back or not decided yet holds no credit that a row could replace.
  if (emitted.state !== 'credited' || own === undefined || own === event) return true;
  if (listed.has(row.id, own) || events.includes(event)) return false;
  const isAtSameMoment = emitted.occurred_at === null || compareMoments(emitted.occurred_at, row.occurredAt) === 0;
  return own === null || event === null || isAtSameMoment;
}

/** Returns what a conversion is credited for after a row about it. `isCredited`: the row credits it. */
export function creditedAfter(
  row: StateRow,
  before: CreditedMilestones | undefined,
  isCredited: boolean,
): CreditedMilestones {
  const known = before === undefined ? [] : eventsOf(before);
  const event = eventOf(row);
  return isCredited
    ? { events: JSON.stringify([...known.filter((each) => each !== event), event]), occurred_at: row.occurredAt }
    : { events: before?.events ?? null, occurred_at: before?.occurred_at ?? null };
}

function eventOf({ eventId }: StateRow): Milestone {
  return eventId ?? null;
}

function eventsOf({ events }: CreditedMilestones): Milestone[] {
  return events === null ? [] : (JSON.parse(events) as Milestone[]);
}
