import type { JsonValue } from '../../kit/text/json-text.ts';
import type { Stream } from '../connectors/declaration.ts';
import { fetchPage, UnauthorizedError, type Fetching } from './fetcher.ts';
import { fillRequest, type TemplateValues } from './request-template.ts';
import { Token } from './token.ts';

/** What the pages of one source are asked for with. */
export interface Asking {
  baseUrl: string;
  secrets: TemplateValues;
  /** Called with each token for a short time: it is a secret like any other. */
  onToken: (token: string) => void;
}

/**
 * What asks for a page of a stream by its number, or by the row that it begins at. A token that the network no longer
 * takes is had anew once a page. `values`: what its texts may name beside secrets, page and size.
 */
export function pagesOf(
  { baseUrl, secrets, onToken }: Asking,
  stream: Stream,
  fetching: Fetching,
  values: TemplateValues = {},
): (page: number, size: number) => Promise<JsonValue> {
  const token = new Token(stream, baseUrl, secrets, fetching, onToken);
  return async (page, size) => {
    const ask = async () => {
      const all = { ...secrets, ...values, ...(await token.values()), page: String(page), size: String(size) };
      return fetchPage(fillRequest(stream, baseUrl, all), stream, fetching);
    };
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof UnauthorizedError) || !token.isNeeded) throw error;
      token.forget();
      return ask();
    }
  };
}
