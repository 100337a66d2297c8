import type { Stream } from '../connectors/declaration.ts';
import { scalarText, valueAt } from '../../kit/intake/mapping/places.ts';
import { fetchPage, FetchError, type Fetching } from './fetcher.ts';
import { fillTemplate, type TemplateValues } from './request-template.ts';

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
    const { token, errors } = this.#stream;
    if (token === undefined) return {};
    const url = new URL(this.#baseUrl.replace(/\/$/, '') + token.path);
    const form = Object.entries(token.form).map(([name, text]): [string, string] => [
      name,
      fillTemplate(text, this.#secrets),
    ]);
    const { body } = await fetchPage(
      {
        method: 'POST',
        url,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(form).toString(),
      },
      { errors, success: [], format: { type: 'json' }, records: '' },
      this.#fetching,
    );
    const text = scalarText(valueAt(body, token.at));
    if (text === undefined) throw new FetchError(`${url.host}${url.pathname}: the answer has no "${token.at}"`);
    this.#onToken(text);
    return { token: text };
  }
}
