import { html, type Html } from '../../kit/html/html.ts';

type BadgeKind = 'good' | 'waiting' | 'bad' | 'quiet';

const shapes = { good: '●', waiting: '◐', bad: '▲', quiet: '○' } as const;

const kinds: Readonly<Record<string, BadgeKind>> = {
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

/** A word with a shape and a colour, so that people who see no colours can read it too. */
export function badge(word: string, kind: BadgeKind): Html {
  return html`<span class="state ${kind}"><span aria-hidden="true">${shapes[kind]}</span> ${word}</span>`;
}

/** The status of a run, file, report, postback or conversion. */
export function statusBadge(status: string): Html {
  return badge(status, kinds[status] ?? 'quiet');
}
