import type { Stream } from '../connectors/declaration.ts';
import { scalarText, valueAt } from '../../kit/intake/mapping/places.ts';
import { fetchPage, FetchError, quotedError, type Fetching } from './fetcher.ts';
import { fillRequest, type TemplateValues } from './request-template.ts';

/** A short-lived token, fetched when it is first needed and again when the network refuses it. */
export class Token {
  readonly #stream: Stream;
  readonly #baseUrl: string;
  readonly #secrets: TemplateValues;
  readonly #fetching: Fetching;
  readonly #onToken: (token: string) => void;
  #values: TemplateValues | undefined;

  /** `onToken` receives each token: it is a secret. */
  constructor(
    stream: Stream,
    baseUrl: string,
    secrets: TemplateValues,
    fetching: Fetching,
    onToken: (token: string) => void,
  ) {
    this.#stream = stream;
    this.#baseUrl = baseUrl;
    this.#secrets = secrets;
    this.#fetching = fetching;
    this.#onToken = onToken;
  }

  get isNeeded(): boolean {
    return this.#stream.token !== undefined;
  }

  /** Values of placeholders beside the secrets: the token, where the stream has one. */
  async values(): Promise<TemplateValues> {
    return (this.#values ??= await this.#ask());
  }

  forget(): void {
    this.#values = undefined;
  }

  async #ask(): Promise<TemplateValues> {
    const { token, errors, budget } = this.#stream;
    if (token === undefined) return {};
    const { base_url = this.#baseUrl, at, ...declared } = token;
    const request = fillRequest({ method: 'POST', query: {}, ...declared }, base_url, this.#secrets);
    const rules = { errors, budget, success: [], format: { type: 'json' as const }, records: '' };
    const page = await fetchPage(request, rules, this.#fetching);
    const text = scalarText(valueAt(page.body, at));
    if (text === undefined)
      throw new FetchError(`${request.url.host}${request.url.pathname}: the answer has no "${at}"${quotedError(page)}`);
    this.#onToken(text);
    return { token: text };
  }
}
