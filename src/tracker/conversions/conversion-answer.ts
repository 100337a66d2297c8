import { refusalStatus, type Refusal, type RefusalReason } from './report/refusal.ts';

/** The answer to a source. */
export interface ConversionAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
  contentType: string;
  /** The answer in one word, for figures and logs. */
  outcome: ConversionOutcome;
  /** The source where it is one of `sources.json`: figures must not have names that anyone can make up. */
  source: string | undefined;
}

export type ConversionOutcome =
  'recorded' | 'duplicate' | 'ignored' | 'unauthorized' | 'too_many_failures' | 'not_recorded' | RefusalReason;

/** The settings of a source for its answers. */
export interface AnswerWishes {
  source: string | undefined;
  always_200: boolean;
  reply?: string | undefined;
}

const nobody: AnswerWishes = { source: undefined, always_200: false };

export function accepted(
  outcome: 'recorded' | 'duplicate' | 'ignored',
  conversionId: string | undefined,
  wishes: AnswerWishes,
): ConversionAnswer {
  const body = { status: outcome, ...(conversionId !== undefined && { conversion_id: conversionId }) };
  return answer(200, outcome, body, wishes);
}

export function refused({ reason, message }: Refusal, wishes: AnswerWishes): ConversionAnswer {
  return answer(wishes.always_200 ? 200 : refusalStatus[reason], reason, { error: reason, message }, wishes);
}

/** The one answer to a wrong source, address, token or signature. */
export function unauthorized(): ConversionAnswer {
  const message = 'source, address, token or signature is not right';
  return answer(401, 'unauthorized', { error: 'unauthorized', message }, nobody);
}

export function tooManyFailures(retryAfter: Record<string, string>): ConversionAnswer {
  const message = 'too many failures from this address; try again later';
  return answer(429, 'too_many_failures', { error: 'too_many_failures', message }, nobody, retryAfter);
}

/** Never 200, whatever the source wishes: the report has to be sent again. */
export function notRecorded(source: string): ConversionAnswer {
  const message = 'could not be recorded; send it again';
  const wishes = { source, always_200: false };
  return answer(503, 'not_recorded', { error: 'not_recorded', message }, wishes, { 'retry-after': '5' });
}

function answer(
  status: number,
  outcome: ConversionOutcome,
  body: object,
  { source, reply }: AnswerWishes,
  headers: Record<string, string> = {},
): ConversionAnswer {
  const isOwnText = status === 200 && reply !== undefined;
  return {
    status,
    headers: { 'cache-control': 'no-store', ...headers },
    body: isOwnText ? reply : JSON.stringify(body),
    contentType: isOwnText ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8',
    outcome,
    source,
  };
}
