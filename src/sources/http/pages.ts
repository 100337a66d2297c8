import type { JsonValue } from '../../kit/text/json-text.ts';
import type { Stream } from '../connectors/declaration.ts';
import { fetchPage, UnauthorizedError, type Fetching } from './fetcher.ts';
import { fillRequest, type TemplateValues } from './request-template.ts';
import { Token } from './token.ts';

/** Address and secrets of a source. */
interface PageRequests {
  baseUrl: string;
  secrets: TemplateValues;
  /** Receives each short-lived token: it is a secret. */
  onToken: (token: string) => void;
}

/**
 * Returns a function that fetches a page of a stream by its number, or by its first row. A token that the network
 * refuses is replaced once per page. `values`: placeholders beside secrets, page and size.
 */
export function pagesOf(
  { baseUrl, secrets, onToken }: PageRequests,
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
