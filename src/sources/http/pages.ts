import type { Stream } from '../connectors/declaration.ts';
import { FetchError, fetchPage, UnauthorizedError, type FetchedPage, type Fetching } from './fetcher.ts';
import { fillRequest, type TemplateValues } from './request-template.ts';
import { Token } from './token.ts';

/** Address and secrets of a source. */
interface PageRequests {
  baseUrl: string;
  secrets: TemplateValues;
  /** Receives each short-lived token: it is a secret. */
  onToken: (token: string) => void;
}

/** A page of a list. */
export interface PageAddress {
  /** Its number, or that of its first row; with cursors only a count. */
  page: number;
  size: number;
  /** What the page before said of it; neither for the first one. */
  cursor?: string;
  url?: string;
}

/**
 * Returns a function that fetches a page of a stream. A token that the network refuses is replaced once per page.
 * `values`: placeholders beside secrets, page, size and cursor.
 */
export function pagesOf(
  { baseUrl, secrets, onToken }: PageRequests,
  stream: Stream,
  fetching: Fetching,
  values: TemplateValues = {},
): (page: PageAddress) => Promise<FetchedPage> {
  const token = new Token(stream, baseUrl, secrets, fetching, onToken);
  return async ({ page, size, cursor = '', url }) => {
    const ask = async () => {
      const keys = { ...secrets, ...(await token.values()) };
      const ofPage = { page: String(page), size: String(size), ...(stream.paging.kind === 'cursor' ? { cursor } : {}) };
      const filled = fillRequest(stream, baseUrl, { ...keys, ...values, ...ofPage });
      const request =
        url === undefined
          ? filled
          : { ...filled, url: nextAddress(url, filled.url, baseUrl, parametersWith(stream, keys)) };
      return fetchPage(request, stream, fetching);
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

/**
 * Returns the address of the next page as the answer gives it, which may leave the keys out. Another host, or the same
 * one without TLS, would be sent the secrets.
 */
function nextAddress(text: string, before: URL, baseUrl: string, keys: readonly string[]): URL {
  const url = URL.parse(text, before.href);
  const { origin, host } = new URL(baseUrl);
  if (url === null) throw new FetchError(`${host}: the address of the next page that the answer gives is no address`);
  if (url.origin !== origin || url.username !== '' || url.password !== '')
    // The address is not quoted: a secret in its host is in lower case by now, and nothing would find it.
    throw new FetchError(`${host}: the next page is on another server, and only pages of ${origin} are fetched`);
  for (const name of keys) {
    if (url.searchParams.has(name)) continue;
    for (const value of before.searchParams.getAll(name)) url.searchParams.append(name, value);
  }
  return url;
}

/** Returns the parameters that carry a secret or the token. */
function parametersWith({ query }: Stream, keys: TemplateValues): string[] {
  const hasKey = (text: string) => Object.keys(keys).some((key) => text.includes(`{${key}}`));
  return Object.keys(query).filter((name) => [query[name] ?? []].flat().some(hasKey));
}
