import type { IncomingHttpHeaders } from 'node:http';
import type { Logger } from '../../kit/logging/log.ts';
import { addressGroup } from '../../kit/http/client-address.ts';
import { maxFailingAddresses, minute, retryAfterHeader } from '../../kit/http/sliding-windows.ts';
import { SlidingWindows, type LimitBucket } from '../../kit/http/sliding-windows.ts';
import { NotRecordedError } from '../logs/row-log.ts';
import {
  accepted,
  notRecorded,
  refused,
  tooManyFailures,
  unauthorized,
  type ConversionAnswer,
} from './conversion-answer.ts';
import type { Completion, Completions } from './completions.ts';
import type { ConversionLog, RecordOutcome } from './conversion-log.ts';
import { singleHeader, withForm, type ConversionRequest } from './guard/conversion-request.ts';
import { sameText } from './guard/secret-text.ts';
import { SentParameters } from './guard/sent-parameters.ts';
import { refuseUnknown } from './guard/source-guard.ts';
import type { PostbackSources, ReportingSource } from './postback-sources.ts';
import { keptParameters, refusedConversion, refusedSchema, type RefusedConversions } from './refused-conversions.ts';
import { claimedReplayKey } from './replay-key.ts';
import { checkReport, type OfferTerms } from './report/check-report.ts';
import type { ConversionRecord } from './report/conversion-record.ts';
import type { ClickUsers } from './report/click-users.ts';
import type { ClickUser, KnownClicks, NamedClick } from './report/known-clicks.ts';
import { Refusal } from './report/refusal.ts';
import { readReport } from './report/reported-conversion.ts';

export interface ConversionHandlerParts {
  sources: Pick<PostbackSources, 'find'>;
  /** Undefined until routes are known. */
  offers: () => { offerOf(offerId: number): OfferTerms | undefined } | undefined;
  clicks: Pick<KnownClicks, 'find'>;
  conversions: ConversionLog;
  users: Pick<ClickUsers, 'find'>;
  completions: Completions;
  refusals: RefusedConversions;
  /** Shows that `track replay` may read the data directory. */
  replayKey: string;
  /** Milliseconds since the epoch. */
  now: () => number;
  log: Logger;
  /** Called once for each row, when it is on the disk. */
  onRecorded?: (row: ConversionRecord, offerId: number, now: number) => void;
}

/** A request that is certainly a source's. */
interface Report {
  source: ReportingSource;
  parameters: SentParameters;
  /** Milliseconds since the epoch; for a replay the time at which the report first came. */
  receivedAt: number;
  /** The time of a report that carries none. */
  occurredAt: number;
  isReplay: boolean;
}

const failuresOf = (address: string): LimitBucket => ({ name: address, limit: 60, length: minute });

/**
 * Answers reports of conversions: each check in its order, then the row, and only when that is on the disk the answer.
 */
export class ConversionHandler {
  readonly #parts: ConversionHandlerParts;
  readonly #failures = new SlidingWindows({ maxWindows: maxFailingAddresses });
  /** Moments of the last warning by source, in milliseconds since the epoch. */
  readonly #warnedAt = new Map<string, number>();

  constructor(parts: ConversionHandlerParts) {
    this.#parts = parts;
  }

  /** Returns true for headers of `track replay`. */
  isReplay(headers: IncomingHttpHeaders): boolean {
    const key = claimedReplayKey(singleHeader(headers, 'authorization'));
    return key !== undefined && sameText(this.#parts.replayKey, key);
  }

  async receive(request: ConversionRequest): Promise<ConversionAnswer> {
    const now = this.#parts.now();
    const bucket = failuresOf(addressGroup(request.address));
    const failures = this.#failures.peek(bucket, now);
    if (!failures.allowed) return tooManyFailures(retryAfterHeader(failures, now));
    const report = this.#identify(await withForm(request), now);
    if (report === undefined) {
      this.#failures.consume(bucket, now);
      return unauthorized();
    }
    return this.#judge(report, now);
  }

  /** Undefined for a request that may not be a source's. */
  #identify(request: ConversionRequest, now: number): Report | undefined {
    const source = this.#parts.sources.find(request.source);
    if (claimedReplayKey(singleHeader(request.headers, 'authorization')) !== undefined)
      return this.isReplay(request.headers) && source !== undefined ? replayOf(request.body, source, now) : undefined;
    const parameters = SentParameters.of(request);
    const passes = source?.guard.letsPass(request, parameters, now) ?? refuseUnknown(request, parameters);
    if (!passes || source === undefined) return undefined;
    const vouchedFor = source.guard.vouchedFor(request, parameters);
    this.#warnOfDamage(source, vouchedFor, now);
    return { source, parameters: vouchedFor, receivedAt: now, occurredAt: now, isReplay: false };
  }

  /** Once a minute for each source, which may send such all day long. */
  #warnOfDamage({ name: source, redactor }: ReportingSource, { damaged }: SentParameters, now: number): void {
    const [parameter] = damaged.keys();
    if (parameter === undefined || now - (this.#warnedAt.get(source) ?? 0) < minute) return;
    this.#warnedAt.set(source, now);
    this.#parts.log.warn(
      { source, parameter: redactor.redact(parameter) },
      'a parameter is not UTF-8: where only people read it, U+FFFD replaces its bytes',
    );
  }

  async #judge(report: Report, now: number): Promise<ConversionAnswer> {
    const { source, parameters, receivedAt, isReplay } = report;
    const wishes = isReplay
      ? { source: source.name, always_200: false }
      : { source: source.name, always_200: source.settings.always_200, reply: source.settings.reply };
    try {
      return await this.#record(report, now, wishes);
    } catch (error) {
      if (error instanceof Refusal) {
        if (!isReplay) this.#parts.refusals.keep(refusedConversion(source, parameters, error.reason, receivedAt));
        return refused(error, wishes);
      }
      if (!(error instanceof NotRecordedError))
        this.#parts.log.error(
          { source: source.name, reason: (error as Error).message },
          'a reported conversion could not be judged or recorded: it is answered 503, so that it comes again',
        );
      return notRecorded(source.name);
    }
  }

  async #record(
    { source, parameters, receivedAt, occurredAt }: Report,
    now: number,
    wishes: Parameters<typeof accepted>[2],
  ): Promise<ConversionAnswer> {
    const { offers, clicks, conversions, onRecorded } = this.#parts;
    const reported = readReport(parameters, source.reading, occurredAt);
    if (reported === 'ignored') return accepted('ignored', undefined, wishes);
    const catalog = offers();
    // The source of a click is known by its offer.
    if (catalog === undefined) return notRecorded(source.name);
    const { row, offerId, click } = await checkReport(reported, {
      source: source.name,
      receivedAt,
      windowDays: source.settings.click_window_days,
      isEventRequired: source.settings.event_required,
      rates: source.rates,
      offerOf: (id) => catalog.offerOf(id),
      clickOf: (clickId) => clicks.find(clickId),
      isCredited: (conversionId) => conversions.isCredited(conversionId, now),
    });
    const isOnce = source.settings.once_per_user;
    const outcome = isOnce ? await this.#recordOnce(row, offerId, click, now) : await conversions.record(row, now);
    if (outcome === 'contradiction')
      throw new Refusal(
        'contradiction',
        'this conversion was reported before, and otherwise: another click, event or payout',
      );
    if (outcome === 'already_completed')
      throw new Refusal('already_completed', 'the user of this click has completed this before, by another conversion');
    if (outcome === 'recorded') onRecorded?.(row, offerId, now);
    return accepted(outcome, row.conversionId, wishes);
  }

  async #recordOnce(
    row: ConversionRecord,
    offerId: number,
    click: NamedClick,
    now: number,
  ): Promise<RecordOutcome | 'already_completed'> {
    const { users, completions, conversions, log } = this.#parts;
    const completionOf = (user: ClickUser): Completion => ({ offerId, eventId: row.eventId, user });
    if (row.kind === 'pending') return conversions.record(row, now);
    if (row.kind !== 'credit') {
      // Recorded first: a reversal must not wait until its click can be looked up.
      const outcome = await conversions.record(row, now);
      try {
        const user = await users.find(click);
        if (user !== undefined) await completions.release(row.conversionId, completionOf(user));
      } catch (error) {
        const reason = (error as Error).message;
        log.warn(
          { click_id: row.clickId, reason },
          'the user of a reversal could not be looked up; the next start frees the completion',
        );
      }
      return outcome;
    }
    const user = await users.find(click);
    if (user !== undefined) return completions.record(row, completionOf(user), now);
    log.warn({ click_id: row.clickId }, 'the user of a click is no longer known: once_per_user does not hold for it');
    return conversions.record(row, now);
  }
}

/** Reads what `track replay` sends: a report as it was kept. */
function replayOf(body: Buffer, source: ReportingSource, now: number): Report | undefined {
  let json: unknown;
  try {
    json = JSON.parse(body.toString());
  } catch {
    return undefined;
  }
  const kept = refusedSchema.safeParse(json);
  if (!kept.success || kept.data.source !== source.name) return undefined;
  const receivedAt = Date.parse(kept.data.received_at);
  // The pipeline prices by the catalog of a credit's time, and that had no such milestone when this came.
  const occurredAt = kept.data.reason === 'unknown_event' ? now : receivedAt;
  return { source, parameters: keptParameters(kept.data), receivedAt, occurredAt, isReplay: true };
}
