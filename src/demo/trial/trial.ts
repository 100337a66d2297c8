import { randomBytes } from 'node:crypto';
import { followLink } from './follow-link.ts';
import { figuresOf } from './published-trial.ts';
import { trialConversionId, isRecorded, sendReport, takeBack } from './report-conversion.ts';
import type { TrialReport } from './trial-report.ts';
import type { OfferTrial } from './offer-trial.ts';
import { handedOver, postbackOf, postbackText, published } from './wait-for-results.ts';

/**
 * One offer's whole circle: link, click, conversion, figures, postback. What was credited is rejected at the end,
 * whatever came between, so that it stays in no figure and with no user. Rejects with what went wrong, and what to do.
 */
export async function tryOffer(trial: OfferTrial): Promise<TrialReport> {
  const { data, subject, tracker, tell } = trial;
  const { route, site, told } = subject;
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
  if (told === 'publisher' && !trial.deliver) {
    const rest = `not reported: ${subject.postbackHost} would be told of it; --deliver lets it, a reject follows then; or try a site without a postback address`;
    tell({ step: 'conversion', done: false, text: rest });
    return report;
  }
  const before = await figuresOf(data, route.offer_id);
  const transactionId = `test-${randomBytes(8).toString('hex')}`;
  const credit = { trial, clickId: String(report.click['click_id']), transactionId };
  const conversionId = trialConversionId(credit);
  const begun = trial.now();
  let isPublished = false;
  try {
    const { answer, tracked } = await sendReport(credit, 'credit');
    report.conversion = { conversion_id: conversionId, answer, row: tracked.row };
    tell({ step: 'conversion', done: true, text: `${answer}: ${JSON.stringify(tracked.row)}` });
    await tracker.handOver();
    tell({ step: 'landing', done: true, text: await handedOver(trial, credit.clickId, conversionId) });
    report.published = await published(trial, conversionId);
    isPublished = true;
    const { status, payout } = report.published;
    tell({ step: 'published', done: true, text: `${conversionId} is ${status}, ${payout ?? 'no'} USD` });
    report.figures = { before, after: await figuresOf(data, route.offer_id) };
    tell({ step: 'figures', done: true, text: changesOf(report.figures) });
    report.postback = await postbackOf(trial, conversionId);
    tell({ step: 'postback', done: report.postback !== null, text: postbackText(subject, report.postback) });
  } finally {
    if (isRecorded(credit, begun)) {
      report.taken_back = await takeBack(credit);
      const left = await leaving(trial, isPublished);
      tell({ step: 'taken back', done: true, text: `reject ${report.taken_back}: ${left}` });
    }
  }
  return report;
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
