import { isJsonObject, parseJson, type JsonValue } from '../../kit/text/json-text.ts';
import { membersOf, scalarText, valueAt } from '../../kit/intake/mapping/places.ts';
import type { ErrorRule, Stream } from '../connectors/declaration.ts';
import { requestedWait, waitAfter } from './retry-waits.ts';
import { maxWaitMilliseconds } from './begun-requests.ts';
import type { Budget, BudgetLimit, PullClock } from './budget.ts';
import { ExchangeError, TooMuchError } from './exchange-error.ts';
import type { HttpAnswer, HttpExchanges, HttpRequest } from './exchange.ts';
import { pageExcess } from './page-bounds.ts';
import { answerEncoding, answerText, encodingProblem, readTable } from './read-answer.ts';

/** The source cannot be pulled now. The message names host, path and answer, and contains no secret. */
export class FetchError extends Error {
  /** Status of an answer that says by it that there is none to this request. */
  readonly status: number | undefined;

  constructor(message: string, status?: number) {
    super(message);
    this.status = status;
  }
}

/** The network refuses the key or token. */
export class UnauthorizedError extends FetchError {}

/** A good answer of XML lacks the element of its list. */
export class NoListError extends FetchError {}

/** Tries for one page. */
const maxTries = 5;

/** Bytes of a whole pull. */
const maxPullBytes = 2 * 1024 * 1024 * 1024;

/** The parts of a stream by which a request is sent and its answer is judged. */
type AnswerRules = Pick<Stream, 'errors' | 'success' | 'format' | 'records' | 'budget'>;

/** Resources and hooks of a pull's requests. */
export interface Fetching {
  exchanges: HttpExchanges;
  budgetOf: (limit: BudgetLimit) => Budget;
  clock: PullClock;
  signal: AbortSignal;
  /** Bytes read so far in this pull. */
  read: { bytes: number };
  /** Removes secrets from a server's text. */
  redact: (text: string) => string;
  /** Called before a wait, for the log. */
  onRetry: (reason: string, waitMilliseconds: number) => void;
}

/** A page: its body, of CSV and XML the records, and its headers by names in lower case. */
export interface FetchedPage {
  body: JsonValue;
  headers: HttpAnswer['headers'];
  /** Text of an error in the body, without secrets: some networks answer with one and HTTP 200. */
  said?: string | undefined;
  /** Of CSV: names of its columns; undefined for an answer without a header. */
  columns?: readonly string[] | undefined;
}

/** Quotes the error text of a page, as the end of a sentence about what the page lacks. */
export function quotedError({ said }: FetchedPage): string {
  return said === undefined ? '' : `; it says "${said}"`;
}

/**
 * Fetches and parses one page as the stream declares it, within the budget, with retries where they may help. Throws
 * `FetchError` without a good answer, and the signal's reason after it is aborted.
 */
export async function fetchPage(request: HttpRequest, stream: AnswerRules, fetching: Fetching): Promise<FetchedPage> {
  const { clock, signal } = fetching;
  const budget = fetching.budgetOf(stream.budget);
  const where = `${request.url.host}${request.url.pathname}`;
  let waited = 0;
  for (let tries = 1; ; tries++) {
    await budget.take(signal);
    const verdict = await tryOnce(request, stream, fetching);
    if ('page' in verdict) return verdict.page;
    const problem = `${where}: ${fetching.redact(verdict.problem)}`;
    const { status, error = FetchError } = verdict;
    if (verdict.do === 'fail') throw new error(problem, status);
    if (tries === maxTries) throw new FetchError(`${problem}, ${maxTries} times`, status);
    const wait = Math.max(
      verdict.waitMilliseconds ?? 0,
      waitAfter(tries, () => clock.random()),
    );
    waited += wait;
    if (waited > maxWaitMilliseconds)
      throw new FetchError(
        `${problem}; the next try would be after ${Math.round(wait / 1000)} s, longer than a pull waits: the next pull tries again`,
      );
    if (verdict.do === 'wait') budget.pause(wait);
    fetching.onRetry(problem, wait);
    await clock.wait(wait, signal);
  }
}

type Verdict =
  | { page: FetchedPage }
  | {
      problem: string;
      do: Exclude<ErrorRule['do'], 'end'>;
      waitMilliseconds?: number | undefined;
      status?: number;
      error?: typeof FetchError;
    };

async function tryOnce(request: HttpRequest, stream: AnswerRules, fetching: Fetching): Promise<Verdict> {
  const { redact } = fetching;
  let answer: HttpAnswer;
  try {
    answer = await fetching.exchanges.send(request, fetching.signal);
  } catch (error) {
    if (error instanceof TooMuchError) return { problem: error.message, do: 'fail' };
    if (!(error instanceof ExchangeError)) throw error;
    return { problem: error.message, do: 'retry' };
  }
  fetching.read.bytes += answer.body.length;
  if (fetching.read.bytes > maxPullBytes) return { problem: `more than ${maxPullBytes} bytes in one pull`, do: 'fail' };
  const { body, headers } = answer;
  const encoding = answerEncoding(body, headers['content-type'], stream.format);
  const text = answerText(body, encoding);
  const excess = pageExcess(text, stream.format.type);
  if (excess !== undefined) return { problem: `an answer of ${excess}`, do: 'fail' };
  const isTable = stream.format.type !== 'json' && answer.status === 200;
  const parsed = isTable ? text : parseAnswer(text);
  const rule = stream.errors.find((each) => fits(each, answer.status, parsed));
  const asked =
    requestedWait(answer.headers['retry-after'], fetching.clock.now()) ??
    (answer.headers['x-ratelimit-remaining'] === '0'
      ? requestedWait(answer.headers['x-ratelimit-reset'], fetching.clock.now())
      : undefined);
  // Some networks answer with an error where a list, or a page of it, is empty.
  if (rule?.do === 'end') return { page: { body: [], headers } };
  if (rule !== undefined) {
    const waitMilliseconds = rule.do === 'wait' ? Math.max(asked ?? 0, rule.seconds * 1000) : asked;
    return { problem: described(answer, parsed, redact), do: rule.do, waitMilliseconds };
  }
  if (answer.status === 429) return { problem: described(answer, parsed, redact), do: 'wait', waitMilliseconds: asked };
  if (answer.status >= 500 || answer.status === 408)
    return { problem: described(answer, parsed, redact), do: 'retry', waitMilliseconds: asked, status: answer.status };
  if (answer.status >= 300 && answer.status < 400)
    return { problem: `HTTP ${answer.status}, a redirect, which is not followed`, do: 'fail' };
  if (answer.status < 200 || answer.status >= 300)
    return {
      problem: described(answer, parsed, redact),
      do: 'fail',
      status: answer.status,
      ...(answer.status === 401 && { error: UnauthorizedError }),
    };
  if (parsed === undefined) return { problem: `HTTP ${answer.status} with a body that is no JSON`, do: 'retry' };
  const unreadable = encodingProblem(body, encoding);
  if (unreadable !== undefined) return { problem: unreadable, do: 'fail' };
  const failed = stream.success.find(({ at, is }) => !holds(valueAt(parsed, at), is));
  if (failed !== undefined) return { problem: described(answer, parsed, redact), do: 'fail' };
  if (!isTable) return { page: { body: parsed, headers, said: errorText(parsed, redact) } };
  const read = readTable(body, encoding, stream.format, stream.records);
  if ('records' in read) return { page: { body: read.records, headers, columns: read.columns } };
  return { problem: read.problem, do: 'fail', ...(read.lacksList && { error: NoListError }) };
}

function fits({ status, at, contains }: ErrorRule, answered: number, parsed: JsonValue | undefined): boolean {
  if (status !== undefined && !status.includes(answered)) return false;
  if (at === undefined && contains === undefined) return true;
  const text = scalarText(valueAt(parsed, at ?? ''));
  return text !== undefined && text.toLowerCase().includes((contains ?? '').toLowerCase());
}

/** A value that is absent, or a list without members, counts as an empty text; other lists and objects are no text. */
function holds(value: JsonValue | undefined, texts: readonly string[]): boolean {
  const text = scalarText(value) ?? (membersOf(value).length === 0 ? '' : undefined);
  return text !== undefined && texts.includes(text);
}

/** Parses JSON, also with bare control characters within texts, which some networks write. */
function parseAnswer(text: string): JsonValue | undefined {
  // oxlint-disable-next-line no-control-regex -- the expression replaces them
  return parseJson(text) ?? parseJson(text.replaceAll(/[\u0000-\u001F]/g, ' '));
}

const maxQuotedCharacters = 200;

/** Describes an answer by its status and the error text of a JSON body. */
function described({ status }: HttpAnswer, parsed: JsonValue | undefined, redact: Fetching['redact']): string {
  const said = errorText(parsed, redact);
  return `HTTP ${status}${said === undefined ? '' : `, "${said}"`}`;
}

/**
 * Returns the error text of a JSON body, under the names that APIs use. A secret in it is redacted before the text is
 * cut, or a part of one could stay.
 */
function errorText(parsed: JsonValue | undefined, redact: Fetching['redact']): string | undefined {
  if (!isJsonObject(parsed)) return undefined;
  const said = [
    'response.errorMessage',
    'errorMessage',
    'error.message',
    'error',
    'message',
    'Error',
    'errors.0',
    'errors.0.message',
  ]
    .map((at) => scalarText(valueAt(parsed, at)))
    .find((text) => text !== undefined && text !== '');
  return said === undefined ? undefined : redact(said).slice(0, maxQuotedCharacters);
}
