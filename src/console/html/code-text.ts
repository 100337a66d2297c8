import { html, type Html } from '../../kit/html/html.ts';

/** A sentence with code between backticks. */
export function codeText(text: string): Html {
  return html`${text.split('`').map((part, index) => (index % 2 === 0 ? part : html`<code>${part}</code>`))}`;
}
