import { UsageError } from '../../kit/errors/errors.ts';
import type { ConversionKind } from '../../kit/vocabulary/values.ts';
import { reversalOf, type PostbackSettings } from '../../sources/config/postback-settings.ts';
import type { ReportedField } from '../../sources/config/report-fields.ts';
import type { SourceEntry } from '../../sources/config/sources-file.ts';
import { reportParameters } from './guard/guarded-report.ts';
import { SentParameters } from './guard/sent-parameters.ts';
import { makeConversionId } from './report/conversion-record.ts';
import { Refusal } from './report/refusal.ts';
import { readReport, reportReading, type ReportedConversion } from './report/reported-conversion.ts';

/** A report in the source's dialect. */
export interface PlannedReport {
  /** The kind that the tracker reads in it. */
  kind: ConversionKind;
  /** Names and values, without a token or a signature. */
  parameters: readonly (readonly [name: string, value: string])[];
}

/** A credit, and what takes it back. */
export interface PlannedReports {
  credit: PlannedReport;
  reversal: PlannedReport;
}

export interface ReportPlan {
  /** The source's entry in `sources.json`, and its `postback`. */
  entry: Pick<SourceEntry, 'source' | 'currency' | 'time_zone'>;
  settings: PostbackSettings;
  clickId: string;
  transactionId: string;
  eventId: string | undefined;
  /** The catalog's, gross USD. */
  payout: string;
  /** USD for one unit of a currency, as decimal text. */
  rates: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch. */
  now: number;
}

/** Fields of ours, and parameters of the source's own. */
interface Dialect {
  fields: Partial<Record<ReportedField, string>>;
  own?: Readonly<Record<string, string>>;
}

/**
 * Plans reports of a conversion, each held to what the tracker reads in it: a source may lack names for some fields,
 * and have another sign of a reversal than a status. Throws `UsageError` where its settings allow no credit, or none
 * that can be taken back.
 */
export function planReports(plan: ReportPlan): PlannedReports {
  const { entry, settings, eventId } = plan;
  const fields = {
    click_id: plan.clickId,
    transaction_id: plan.transactionId,
    ...(eventId !== undefined && { event_id: eventId }),
  };
  const credit = reportParameters(settings, { ...fields, status: wordFor(settings, 'credit') });
  const read = readAsTracker(plan, credit);
  if (typeof read === 'string' || read.kind !== 'credit')
    throw new UsageError(
      `the tracker would not take a credit of ${entry.source} by the "postback" of its entry in sources.json: ${typeof read === 'string' ? read : `it reads a ${read.kind}`}`,
    );
  const conversionId = idOf(plan, read);
  for (const { fields: more, own } of reversals(plan)) {
    const parameters = reportParameters(settings, { ...fields, ...more, reason: 'track test' }, own);
    const back = readAsTracker(plan, parameters);
    if (typeof back === 'string' || !isReversal(back, plan) || idOf(plan, back) !== conversionId) continue;
    return { credit: { kind: 'credit', parameters: credit }, reversal: { kind: back.kind, parameters } };
  }
  throw new UsageError(
    `a test would leave a conversion of ${entry.source} that counts: the "postback" of its entry in sources.json names no sign of a reversal; give its "fields" a "status", or give "reversal", as {"negative_payout": true} with a "payout" in its "fields"`,
  );
}

/** Ways to take the conversion back: by a status, else by the source's own signs. */
function* reversals({ settings, transactionId, payout }: ReportPlan): Generator<Dialect> {
  for (const kind of ['reject', 'chargeback'] as const) yield { fields: { status: wordFor(settings, kind) } };
  const { id_prefix: prefix, negative_payout: isNegative, word } = reversalOf(settings) ?? {};
  // The same report as the credit's, but for the sign.
  const status = wordFor(settings, 'credit');
  if (word !== undefined) yield { fields: { status }, own: { [word.parameter]: word.values[0] as string } };
  if (prefix !== undefined) yield { fields: { status, transaction_id: prefix + transactionId } };
  if (isNegative !== true) return;
  // The amount does not matter, and that of the catalog may be 0 or have more places than the source writes.
  for (const amount of [payout, '1']) yield { fields: { status, payout: `-${amount}`, currency: 'USD' } };
}

/** The source's own word for a status. A mapping has it in its fields. */
function wordFor({ statuses }: PostbackSettings, kind: ConversionKind): string {
  const [own] = Object.entries(statuses).find(([, meaning]) => meaning === kind) ?? [kind];
  return own;
}

/** Returns what the tracker would read, or why it would not record it. */
function readAsTracker(
  { entry, settings, now }: ReportPlan,
  parameters: PlannedReport['parameters'],
): ReportedConversion | string {
  try {
    const read = readReport(new SentParameters(parameters), reportReading(settings, entry), now);
    return read === 'ignored' ? 'it passes it over' : read;
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}

/** True also for the tracker's last check, that it knows a rate for the amount. */
function isReversal({ kind, payout, currency }: ReportedConversion, { rates }: ReportPlan): boolean {
  const isPriced = payout === undefined || currency === 'USD' || Object.hasOwn(rates, currency);
  return (kind === 'reject' || kind === 'chargeback') && isPriced;
}

function idOf({ entry, clickId }: ReportPlan, { transactionId, eventId }: ReportedConversion): string {
  return makeConversionId(entry.source, { transactionId, clickId, eventId });
}
