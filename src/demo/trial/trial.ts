import { randomBytes } from 'node:crypto';
import { OfferlineError } from '../../kit/errors/errors.ts';
import { planReports, type PlannedReports } from '../../tracker/conversions/planned-reports.ts';
import { followLink } from './follow-link.ts';
import { figuresOf } from './published-trial.ts';
import { recordedId, sendReport, takeBack } from './report-conversion.ts';
import type { TrialReport } from './trial-report.ts';
import type { OfferTrial } from './offer-trial.ts';
import { handedOver, postbackOf, postbackText, published } from './wait-for-results.ts';

/** In place of a click's id, before there is one. */
const noClick = '0'.repeat(32);

/**
 * Tries an offer from its link to the postback: link, click, conversion, figures, postback. What was credited is
 * rejected at the end, whatever came between, so that it stays in no figure and with no user. Rejects with what went
 * wrong, and what to do.
 */
export async function tryOffer(trial: OfferTrial): Promise<TrialReport> {
  const { data, subject, tracker, report: reportStep } = trial;
  const { route, site, receiver } = subject;
  const isReported = receiver !== 'publisher' || trial.deliver;
  const transactionId = `test-${randomBytes(8).toString('hex')}`;
  // Before there is a click, for a source whose conversion could not be taken back.
  if (isReported) reportsFor(trial, noClick, transactionId);
  const report: TrialReport = {
    offer_id: route.offer_id,
    site_key: site.site_key,
    user_id: trial.userId,
    tracker: { address: tracker.address, own: tracker.isOwn },
    ...(await followLink(trial)),
    conversion: null,
    published: null,
    figures: null,
    postback: null,
    taken_back: null,
  };
  if (!isReported) {
    const rest = `not reported: it would be sent to ${subject.postbackHost}; --deliver allows that, and a reject follows; or try a site without a postback address`;
    reportStep({ step: 'conversion', done: false, text: rest });
    return report;
  }
  const before = await figuresOf(data, route.offer_id);
  const clickId = String(report.click['click_id']);
  const reports = reportsFor(trial, clickId, transactionId);
  const credit = { trial, clickId, reports };
  const begun = trial.now();
  let isPublished = false;
  const putRight = async () => {
    const recorded = recordedId(credit, begun);
    if (recorded === undefined) return;
    report.taken_back = await takeBack(credit, recorded);
    const left = await leaving(trial, isPublished);
    reportStep({ step: 'taken back', done: true, text: `${reports.reversal.kind} ${report.taken_back}: ${left}` });
  };
  try {
    const { answer, conversionId, tracked } = await sendReport(credit, reports.credit);
    report.conversion = { conversion_id: conversionId, answer, row: tracked.row };
    reportStep({ step: 'conversion', done: true, text: `${answer}: ${JSON.stringify(tracked.row)}` });
    await tracker.handOver();
    reportStep({ step: 'landing', done: true, text: await handedOver(trial, clickId, conversionId) });
    report.published = await published(trial, conversionId);
    isPublished = true;
    const { status, payout } = report.published;
    reportStep({ step: 'published', done: true, text: `${conversionId} is ${status}, ${payout ?? 'no'} USD` });
    report.figures = { before, after: await figuresOf(data, route.offer_id) };
    reportStep({ step: 'figures', done: true, text: changesOf(report.figures) });
    report.postback = await postbackOf(trial, conversionId);
    reportStep({ step: 'postback', done: report.postback !== null, text: postbackText(subject, report.postback) });
  } catch (error) {
    const first = error as Error;
    await putRight().catch((second: Error) => {
      throw bothErrors(first, second);
    });
    throw first;
  }
  await putRight();
  return report;
}

function reportsFor({ subject, settings, now }: OfferTrial, clickId: string, transactionId: string): PlannedReports {
  const { route, entry, eventId } = subject;
  const { payout } = route.events.find(({ event_id }) => event_id === eventId) ?? route;
  const { rates } = settings;
  return planReports({
    entry,
    settings: subject.settings,
    clickId,
    transactionId,
    eventId,
    payout,
    rates,
    now: now(),
  });
}

/** What went wrong first is often why the conversion could not be taken back. */
function bothErrors(first: Error, second: Error): OfferlineError {
  const message = `${first.message.replace(/\.$/, '')}. Then ${second.message}`;
  return new OfferlineError(message, first instanceof OfferlineError ? first.exitCode : undefined, { cause: first });
}

function changesOf({ before, after }: NonNullable<TrialReport['figures']>): string {
  const names = ['clicks', 'conversions', 'earnings', 'epc', 'cvr', 'rank'] as const;
  return names.map((name) => `${name} ${before[name] ?? '-'} → ${after[name] ?? '-'}`).join(', ');
}

/** Lets the reject land, and what was published be published without the conversion. */
async function leaving({ tracker, refresh }: OfferTrial, isPublished: boolean): Promise<string> {
  if (!tracker.isOwn) return 'the next refresh leaves the conversion out of all figures';
  await tracker.handOver();
  if (!isPublished) return 'the next refresh counts neither';
  await refresh();
  return 'no figure has the conversion any more';
}
