/** Reasons to refuse an authentic report, each with its status. */
export const refusalStatus = {
  invalid_parameter: 400,
  unknown_click: 404,
  foreign_click: 403,
  click_too_old: 410,
  before_click: 422,
  unknown_event: 422,
  event_required: 422,
  no_rate: 422,
  payout_too_high: 422,
  contradiction: 409,
  already_completed: 409,
} as const;
export type RefusalReason = keyof typeof refusalStatus;

/** A report that is refused; the message is for the sender and names parameters as the sender does. */
export class Refusal extends Error {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, message: string) {
    super(message);
    this.reason = reason;
  }
}
