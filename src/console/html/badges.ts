import { state, unknown } from './figures.ts';
import { html, type Html } from './html.ts';

type Kind = Parameters<typeof state>[1];

const kinds: Readonly<Record<string, Kind>> = {
  // Of runs, stages, pulls and jobs.
  done: 'good',
  running: 'waiting',
  failed: 'bad',
  interrupted: 'bad',
  stopped: 'quiet',
  killed: 'bad',
  unknown: 'bad',
  // Of landing files.
  loaded: 'good',
  held: 'waiting',
  quarantined: 'bad',
  superseded: 'quiet',
  // Of daily reports.
  current: 'good',
  outdated: 'waiting',
  missing: 'bad',
  open: 'quiet',
  // Of postbacks.
  delivered: 'good',
  pending: 'waiting',
  delivering: 'waiting',
  dead: 'bad',
  // Of conversions.
  credited: 'good',
  unattributed: 'waiting',
  rejected: 'bad',
  charged_back: 'bad',
};

/** The state of a run, file, report, postback or conversion, by its word. */
export function stateOf(word: string): Html {
  return state(word, kinds[word] ?? 'quiet');
}

/** A link to one of a kind, such as `/runs/17`. */
export function linkTo(kind: string, id: number | string, text: number | string = id): Html {
  return html`<a href="/${kind}/${encodeURIComponent(String(id))}">${text}</a>`;
}

/** Terms and what is known of them, one below the other. */
export function facts(pairs: readonly (readonly [term: string, value: Html | string])[]): Html {
  return html`<dl class="facts">
    ${pairs.map(
      ([term, value]) =>
        html`<dt>${term}</dt>
          <dd>${value}</dd> `,
    )}
  </dl>`;
}

/** How long something took, or takes since, in seconds with a tenth. */
export function secondsBetween(from: string, to: string | number): number {
  const until = typeof to === 'number' ? to : Date.parse(to);
  return Math.max(0, Math.round((until - Date.parse(from)) / 100) / 10);
}

/** A text of others, or a dash where there is none. */
export function textOr(text: string | null, why: string): Html {
  return text === null ? unknown(why) : html`${text}`;
}
