import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { ConsoleError } from './page/console-error.ts';
import type { ConsoleSnapshot } from './data/console-snapshot.ts';
import type { Address } from './html/address.ts';
import { html, type Html } from './html/html.ts';
import type { TablePart } from './html/table.ts';
import type { Elsewhere, Page, PageContent, Visit } from './page/page.ts';
import { partOf } from './page/page.ts';

/** What stays of pages that were made: of a snapshot nothing changes any more. Bytes. */
const maxKeptBytes = 32 * 1024 * 1024;

/** The inside of a page, or a file that was asked of it, or where to look instead. */
export type Rendered = { title: string; body: Html } | { file: string; csv: string } | Elsewhere;

export type Looking = Omit<Visit, 'part' | 'snapshot'>;

/** Makes pages of snapshots, and keeps those that show nothing live. */
export class PageRenderer {
  readonly #kept = new LRUCache<string, { title: string; body: Html }>({
    maxSize: maxKeptBytes,
    sizeCalculation: ({ body }, key) => body.length + key.length,
  });

  /** Throws `ConsoleError` where the address asks for what is not there, and the errors of its questions. */
  async render(page: Page, snapshot: ConsoleSnapshot, looking: Looking): Promise<Rendered> {
    const { address, user } = looking;
    const key = createHash('sha256').update(`${snapshot.id}\n${user.role}\n${address.href}`).digest('base64');
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const content = await snapshot.use(() => page.show({ ...looking, snapshot, part: partOf(address) }));
    if ('elsewhere' in content) return content;
    const csv = address.get('csv');
    if (csv !== undefined) return fileOf(content, csv);
    const made = { title: content.title, body: bodyOf(content, address) };
    if (page.live !== true) this.#kept.set(key, made);
    return made;
  }
}

function bodyOf({ title, question, parts }: PageContent, address: Address): Html {
  return html`<h1>${title}</h1>
    <p class="question">${question}</p>
    ${parts.map((part) => ('markup' in part ? part.markup(address) : part))}`;
}

function fileOf({ parts }: PageContent, name: string): Rendered {
  const found = parts.find((part): part is TablePart => 'markup' in part && part.name === name);
  if (found === undefined) throw new ConsoleError(404, `this page has no table "${name}"`);
  return { file: `${name}.csv`, csv: found.csv() };
}
