import { html, type Html } from '../../kit/html/html.ts';
import { missing, shownNumber, percentText } from './values.ts';

export interface FigureCard {
  title: string;
  /** Exact, as the query gives it; null where it is unknown. */
  value: number | string | null;
  show: (exact: number | string) => Html;
  /** What it is compared with; undefined where there is nothing to compare it with. */
  before?: { value: number | string | null; name: string } | undefined;
  /** A small line below. */
  line?: Html | undefined;
}

/** Large figures side by side, each with its change. */
export function figureCards(label: string, cards: readonly FigureCard[]): Html {
  return html`<section class="plain" aria-label="${label}">
    <ul class="figures">
      ${cards.map(
        ({ title, value, show, before, line }) =>
          html`<li class="card figure">
            <h2 class="quiet">${title}</h2>
            <p class="value">${value === null ? missing('before the first known day') : show(value)}</p>
            ${before !== undefined && html`<p>${change(value, before, show)}</p>`}${line}
          </li> `,
      )}
    </ul>
  </section>`;
}

const arrows = { up: '▲', down: '▼', same: '=' } as const;

function change(
  value: number | string | null,
  before: NonNullable<FigureCard['before']>,
  show: FigureCard['show'],
): Html {
  if (before.value === null || value === null) return html`<span class="quiet">${before.name}: not known</span>`;
  const then = html`<span class="quiet">${before.name} ${show(before.value)}</span>`;
  const [now, earlier] = [Number(value), Number(before.value)];
  if (now === earlier) return html`<span aria-hidden="true">${arrows.same}</span> as much as ${then}`;
  const direction = now > earlier ? 'up' : 'down';
  const ratio = Math.abs(now - earlier) / earlier;
  const size = earlier === 0 ? 'from none' : ratio < 0.0005 ? '< 0.1 %' : percentText(tenth(ratio));
  return html`<span class="change"><span aria-hidden="true">${arrows[direction]}</span> <span class="spoken">${direction}</span> ${size}</span> ${then}`;
}

/** A ratio to a tenth of a per cent. */
function tenth(ratio: number): string {
  return ratio.toFixed(3);
}

/** A whole number of a card. */
export function countValue(exact: number | string): Html {
  return html`<data value="${exact}">${shownNumber(exact)}</data>`;
}
