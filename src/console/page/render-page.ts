import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Address } from '../html/address.ts';
import { html, type Html } from '../../kit/html/html.ts';
import { ConsoleError, partOf, type Page, type PageContent, type PageRedirect, type PageRequest } from './page.ts';

/** Bytes of pages that are cached: a page of a snapshot never changes. */
const maxCachedBytes = 32 * 1024 * 1024;

/** The body of a page, the CSV file of one of its tables, or a redirect. */
export type RenderedPage = { title: string; body: Html } | { file: string; csv: string } | PageRedirect;

/** Renders pages, and caches those that are not live. */
export class PageRenderer {
  readonly #cache = new LRUCache<string, { title: string; body: Html }>({
    maxSize: maxCachedBytes,
    sizeCalculation: ({ body }, key) => body.length + key.length,
  });

  /** Throws `ConsoleError` where the address asks for something that is not there, and the errors of its statements. */
  async render(page: Page, request: Omit<PageRequest, 'part'>): Promise<RenderedPage> {
    const { address, snapshot, user } = request;
    // Only operators see forms of actions.
    const kind = user.role === 'operator' ? 'operator' : 'viewer';
    const key = createHash('sha256').update(`${snapshot.id}\n${kind}\n${address.href}`).digest('base64');
    const cached = this.#cache.get(key);
    if (cached !== undefined) return cached;
    const content = await snapshot.use(async () => page.show({ ...request, part: partOf(address) }));
    if ('redirect' in content) return content;
    const csv = address.get('csv');
    if (csv !== undefined) return fileOf(content, csv);
    const rendered = { title: content.title, body: bodyOf(content, address) };
    if (page.live !== true) this.#cache.set(key, rendered);
    return rendered;
  }
}

function bodyOf({ title, question, parts }: PageContent, address: Address): Html {
  return html`<h1>${title}</h1>
    <p class="question">${question}</p>
    ${parts.map((part) => (part !== false && 'markup' in part ? part.markup(address) : part))}`;
}

function fileOf({ parts }: PageContent, name: string): RenderedPage {
  for (const part of parts)
    if (part !== false && 'markup' in part && part.name === name) return { file: `${name}.csv`, csv: part.csv() };
  throw new ConsoleError(404, `this page has no table "${name}"`);
}
