import { OfferlineError } from '../../kit/errors/errors.ts';

/** Why an action was not begun, with the status that its request is answered with. Nothing was changed. */
export class ActionProblem extends OfferlineError {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** There is no such action, or a parameter is missing or wrong. */
export class ActionUsageError extends ActionProblem {}

/** What would change is no longer what was previewed. */
export class StalePreview extends ActionProblem {
  constructor(title: string) {
    super(409, `${title}: what would change is no longer what was shown. Look at the new preview and decide again.`);
  }
}

/** As many actions run as may. */
export class ActionBusy extends ActionProblem {}

/** The command could not say what it would do. */
export class PreviewFailed extends ActionProblem {}
