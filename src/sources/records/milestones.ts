import type { JsonObject } from '../../kit/text/json-text.ts';
import { compareAmounts } from './amounts.ts';

/** A milestone of an offer, or its only goal. */
export interface Milestone {
  id: string;
  description: string;
  payout: string;
}

/** Returns each milestone once. Of several amounts of one the lowest counts, with a warning. */
export function lowestMilestones(all: readonly Milestone[], warnings: Set<string>): Milestone[] {
  const lowest = new Map<string, Milestone>();
  for (const milestone of all) {
    const { id, payout } = milestone;
    const known = lowest.get(id);
    const order = known === undefined ? -1 : compareAmounts(payout, known.payout);
    if (order !== 0 && known !== undefined) warnings.add('payout_differs_by_target');
    if (order < 0) lowest.set(id, { ...milestone, description: known?.description ?? milestone.description });
  }
  return [...lowest.values()];
}

/** Milestones as landing reads them; undefined for none, since an empty list says nothing. */
export function landingEvents(milestones: readonly Milestone[]): JsonObject[] | undefined {
  if (milestones.length === 0) return undefined;
  return milestones.map(({ id, description, payout }) => ({ event_id: id, description, payout }));
}
