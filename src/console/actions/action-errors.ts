import { OfferlineError } from '../../kit/errors/errors.ts';

/** The reason that an action was not started, with the HTTP status of the answer. Nothing was changed. */
export class ActionError extends OfferlineError {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** There is no such action, or a parameter is missing or wrong. */
export class ActionUsageError extends ActionError {}

/** The action would now make other changes than its preview showed. */
export class StalePreviewError extends ActionError {
  constructor(title: string) {
    super(409, `${title}: the changes are no longer those of the preview. Look at the new preview and decide again.`);
  }
}

/** The limit of running actions or previews is reached. */
export class ActionBusyError extends ActionError {}

/** The dry run failed. */
export class PreviewFailedError extends ActionError {}
