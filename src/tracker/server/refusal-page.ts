import type { ClickAnswer } from '../clicks/click-answer.ts';

/** The body of a refused click: a line of HTML, or JSON for programs that ask for it. */
export function refusalPage(
  { outcome, message = '' }: ClickAnswer,
  accept: string | undefined,
): { body: string; contentType: string } {
  if (accept?.includes('application/json') === true && !accept.includes('text/html')) {
    const body = JSON.stringify({ error: outcome, message });
    return { body, contentType: 'application/json; charset=utf-8' };
  }
  const text = message.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const sentence = text.charAt(0).toUpperCase() + text.slice(1);
  return {
    body: `<!doctype html><meta charset="utf-8"><meta name="robots" content="noindex"><title>${outcome}</title><p>${sentence}.</p>\n`,
    contentType: 'text/html; charset=utf-8',
  };
}
