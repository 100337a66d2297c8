import { request } from 'undici';
import { OfferlineError } from '../../kit/errors/errors.ts';
import { percentEncoded } from '../../kit/text/percent-encoded.ts';
import { guardedReport } from '../../tracker/conversions/guard/guarded-report.ts';
import type { PlannedReport, PlannedReports } from '../../tracker/conversions/planned-reports.ts';
import { trackedRow, type TrackedRow } from './tracked-rows.ts';
import type { OfferTrial } from './offer-trial.ts';

/** A conversion of the trial's click. */
export interface Credit {
  trial: OfferTrial;
  clickId: string;
  reports: PlannedReports;
}

/**
 * Returns the id of the conversion where its row is there since then, also where the answer was lost. By the click,
 * which nobody else has: a tracker that runs may give it an id by older settings. Milliseconds since the epoch.
 */
export function recordedId({ trial, clickId }: Credit, since: number): string | undefined {
  const found = trackedRow(trial.data, 'conversions', { click_id: clickId, kind: 'credit' }, since);
  return found && idIn(found);
}

/** Reports as the source would, and finds the row, of the named conversion where there is one. */
export async function sendReport(
  { trial, clickId }: Credit,
  { kind, parameters }: PlannedReport,
  conversionId?: string,
): Promise<{ answer: string; conversionId: string; tracked: TrackedRow }> {
  const { data, tracker, now } = trial;
  const { route, settings, secrets } = trial.subject;
  const begun = now();
  const { target, headers } = guardedReport(route.source, settings, secrets, parameters, begun);
  const answer = await request(tracker.address + target, { headers });
  const text = await answer.body.text();
  const named = conversionId === undefined ? {} : { conversion_id: conversionId };
  const tracked = trackedRow(data, 'conversions', { click_id: clickId, kind, ...named }, begun);
  // A source may be answered with 200 whatever comes of it, so the row is what counts.
  if (tracked === undefined) {
    const allowed = settings.allow === undefined ? '' : ` Does its "allow" have the address that this came from?`;
    throw new OfferlineError(
      `The ${kind} of ${route.source} was answered with ${answer.statusCode}: ${text.trim()}.${answer.statusCode === 401 ? allowed : ''}`,
    );
  }
  return { answer: `${answer.statusCode}`, conversionId: idIn(tracked), tracked };
}

/** Rejects with what is to be done by hand where that fails. */
export async function takeBack(credit: Credit, conversionId: string): Promise<string> {
  const { reversal } = credit.reports;
  try {
    return (await sendReport(credit, reversal, conversionId)).answer;
  } catch (error) {
    const sent = reversal.parameters.map(([name, value]) => `${percentEncoded(name)}=${percentEncoded(value)}`);
    throw new OfferlineError(
      `${conversionId} could not be taken back and counts: report a ${reversal.kind} as ${credit.trial.subject.route.source} does, by ${sent.join('&')}. ${(error as Error).message}`,
      undefined,
      { cause: error },
    );
  }
}

function idIn({ row }: TrackedRow): string {
  return String(row['conversion_id']);
}
