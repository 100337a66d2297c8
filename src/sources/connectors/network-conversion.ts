/** A conversion as a network's list has it now. Its status and amount may be others at the next pull. */
export interface NetworkConversion {
  /** The network's own. */
  id: string;
  /** The sub id that our links carry; undefined where the network has none, so that nobody can be credited. */
  clickId: string | undefined;
  status: 'approved' | 'pending' | 'rejected';
  /** As the network writes it; without an offset it is of the source's `time_zone`. */
  occurredAt: string;
  /** When status or amount changed last, where the network says so. */
  changedAt?: string | undefined;
  payout: string | undefined;
  currency: string | undefined;
  /** Why it was rejected. */
  reason?: string | undefined;
}
