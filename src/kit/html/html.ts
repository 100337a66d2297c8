import { html as taggedHtml, raw } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';

/** Markup made by `html`; nothing else passes into another template unescaped. */
export type Html = HtmlEscapedString;
/** Values of a template: texts and numbers are escaped; null, undefined and false add nothing. */
export type HtmlValue = Html | string | number | null | undefined | false | readonly HtmlValue[];

/** Markup of a template whose values are escaped. Throws for a promise: a page reads its data before it renders. */
export function html(template: TemplateStringsArray, ...values: HtmlValue[]): Html {
  const made = taggedHtml(template, ...values);
  if (made instanceof Promise) throw new TypeError('a template of a page holds a promise');
  return made;
}

/** SVG that our chart library wrote; the library escapes the texts in it. */
export function drawn(svg: string): Html {
  return raw(svg);
}

export const nothing: Html = html``;
