import { html as taggedHtml, raw } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';

/** Markup: what `html` made of a template, and nothing else passes into another template unescaped. */
export type Html = HtmlEscapedString;
/** What a template may hold: texts and numbers are escaped, nothing is left out for null, undefined and false. */
export type HtmlValue = Html | string | number | null | undefined | false | readonly HtmlValue[];

/** Markup of a template whose values are escaped. Throws for a promise: a page has its data before it is written. */
export function html(template: TemplateStringsArray, ...values: HtmlValue[]): Html {
  const made = taggedHtml(template, ...values);
  if (made instanceof Promise) throw new TypeError('a template of a page holds a promise');
  return made;
}

/** SVG that our own chart library wrote, with every text in it escaped there. */
export function drawn(svg: string): Html {
  return raw(svg);
}

export const nothing: Html = html``;
