import { request } from 'undici';
import { OfferlineError } from '../../kit/errors/errors.ts';
import { guardedReport } from '../../tracker/conversions/guard/guarded-report.ts';
import { trackedRow, type TrackedRow } from './tracked-rows.ts';
import type { OfferTrial } from './offer-trial.ts';

/** A conversion of the trial's click. */
export interface Credit {
  trial: OfferTrial;
  clickId: string;
  transactionId: string;
}

export function trialConversionId({ trial, transactionId }: Credit): string {
  return `${trial.subject.route.source}:${transactionId}`;
}

/** Returns true where its row is there since then, also where the answer was lost. Milliseconds since the epoch. */
export function isRecorded(credit: Credit, since: number): boolean {
  const members = { conversion_id: trialConversionId(credit), kind: 'credit' };
  return trackedRow(credit.trial.data, 'conversions', members, since) !== undefined;
}

/** Reports as the source would, and finds the row. */
export async function sendReport(
  credit: Credit,
  kind: 'credit' | 'reject',
): Promise<{ answer: string; tracked: TrackedRow }> {
  const { trial, clickId, transactionId } = credit;
  const { data, tracker, now } = trial;
  const { route, settings, secrets, eventId } = trial.subject;
  const begun = now();
  const [own] = Object.entries(settings.statuses).find(([, meaning]) => meaning === kind) ?? [kind];
  const fields = {
    click_id: clickId,
    transaction_id: transactionId,
    ...(eventId !== undefined && { event_id: eventId }),
    status: own,
    ...(kind === 'reject' && { reason: 'track test' }),
  };
  const { target, headers } = guardedReport(route.source, settings, secrets, fields, begun);
  const answer = await request(tracker.address + target, { headers });
  const text = await answer.body.text();
  const row = trackedRow(data, 'conversions', { conversion_id: trialConversionId(credit), kind }, begun);
  // A source may be answered with 200 whatever comes of it, so the row is what counts.
  if (row === undefined) {
    const allowed = settings.allow === undefined ? '' : ` Does its "allow" have the address that this came from?`;
    throw new OfferlineError(
      `The ${kind} of ${route.source} was answered with ${answer.statusCode}: ${text.trim()}.${answer.statusCode === 401 ? allowed : ''}`,
    );
  }
  return { answer: `${answer.statusCode}`, tracked: row };
}

/** Rejects with what is to be done by hand where that fails. */
export async function takeBack(credit: Credit): Promise<string> {
  try {
    return (await sendReport(credit, 'reject')).answer;
  } catch (error) {
    throw new OfferlineError(
      `${trialConversionId(credit)} could not be taken back and counts: report a reject with click_id ${credit.clickId} and transaction_id ${credit.transactionId}. ${(error as Error).message}`,
      undefined,
      { cause: error },
    );
  }
}
