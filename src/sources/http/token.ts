import type { Stream } from '../connectors/declaration.ts';
import { scalarText, valueAt } from '../records/record-fields.ts';
import { fetchPage, FetchError, type Fetching } from './fetcher.ts';
import { filled, type TemplateValues } from './request-template.ts';

/** A token for a short time, had when it is first needed and again once the network no longer takes it. */
export class Token {
  readonly #stream: Stream;
  readonly #baseUrl: string;
  readonly #secrets: TemplateValues;
  readonly #fetching: Fetching;
  readonly #onToken: (token: string) => void;
  #values: TemplateValues | undefined;

  /** `onToken` is called with each token: it is a secret like any other. */
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

  /** What texts may name beside the secrets: the token, where the stream has one. */
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
      filled(text, this.#secrets),
    ]);
    const answer = await fetchPage(
      {
        method: 'POST',
        url,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(form).toString(),
      },
      { errors, success: [], format: 'json' },
      this.#fetching,
    );
    const text = scalarText(valueAt(answer, token.at));
    if (text === undefined) throw new FetchError(`${url.host}${url.pathname}: the answer has no "${token.at}"`);
    this.#onToken(text);
    return { token: text };
  }
}
