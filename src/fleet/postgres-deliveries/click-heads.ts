import type { PostgresSession } from './session.ts';

/**
 * The order of `store/click-order.ts` for many clicks at once: of a click's postbacks that are neither delivered nor
 * dead only the first may be sent, and one that is being sent comes before all others.
 */
const refresh = `
  WITH heads AS (
    SELECT DISTINCT ON (click_id) click_id, sequence FROM postbacks
    WHERE click_id = ANY($1) AND state IN ('pending', 'delivering')
    ORDER BY click_id, state = 'delivering' DESC, sort_key, conversion_id, sequence
  )
  UPDATE postbacks SET is_next = (postbacks.sequence = heads.sequence) FROM heads
  WHERE postbacks.click_id = heads.click_id AND state IN ('pending', 'delivering')
    AND is_next <> (postbacks.sequence = heads.sequence)`;

/** To be called in the transaction that adds postbacks to clicks, finishes some or brings some back. */
export async function refreshHeads(session: PostgresSession, clickIds: Iterable<string>): Promise<void> {
  const clicks = [...new Set(clickIds)];
  if (clicks.length > 0) await session.query(refresh, [clicks], 'refresh-heads');
}
