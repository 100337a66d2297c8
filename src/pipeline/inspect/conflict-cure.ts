import type { LandingKind } from '../../kit/vocabulary/values.ts';

/** Cures by the kind of records. */
const cures: Readonly<Record<LandingKind, string>> = {
  clicks: 'where these are other clicks, map click_id to a column that differs in each',
  conversions:
    'where these are other conversions, such as milestones of one, add what differs to conversion_id by "join", as in {"at": ["Transaction ID", "Event"], "join": ":"}; what counts under an id already would count again under another',
  offers:
    'where a source lists an offer once for each country or milestone, have it list each offer once, or add what differs to external_id by "join"',
};

/**
 * Returns what an operator can do about records that say something else than the first one under the same id, as half a
 * sentence.
 */
export function conflictCure(kind: LandingKind): string {
  return cures[kind];
}
