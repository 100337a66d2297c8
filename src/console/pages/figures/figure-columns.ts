import type { ConsoleRow } from '../../data/console-snapshot.ts';
import { html, type Html } from '../../../kit/html/html.ts';
import type { Column } from '../../html/table.ts';
import { missing } from '../../html/values.ts';

const arrows = { up: '↑', down: '↓', stable: '→' };

export function trendText(trend: string | null): Html {
  if (trend === null) return missing('no clicks and no conversions in the window');
  return html`<span class="state"><span aria-hidden="true">${arrows[trend as keyof typeof arrows]}</span> ${trend}</span>`;
}

export const noRank = 'no conversion in 48 hours, or not active';

/** Columns that the figures of an offer and of its sites share. */
export const sumColumns = [
  { name: 'clicks', title: 'Clicks', kind: 'number', figure: 'clicks' },
  { name: 'conversions', title: 'Conversions', kind: 'number', figure: 'conversions' },
  { name: 'converted_clicks', title: 'Converted clicks', kind: 'number', figure: 'converted_clicks' },
  { name: 'earnings', title: 'Earnings, USD', kind: 'money', figure: 'earnings' },
  { name: 'epc', title: 'EPC, USD', kind: 'money', figure: 'epc' },
  { name: 'cvr', title: 'CVR', kind: 'percent', figure: 'cvr' },
] as const;

/** All figures of an offer. */
export const figureColumns: readonly Column<ConsoleRow<'offer'>>[] = [
  { name: 'rank', title: 'Rank', kind: 'number', figure: 'rank', whyNone: noRank },
  ...sumColumns,
  { name: 'conversions_24h', title: 'Last 24 h', kind: 'number', figure: 'conversions_24h' },
  { name: 'conversions_prior_24h', title: '24 h before', kind: 'number', figure: 'conversions_prior_24h' },
  { name: 'trend', title: 'Trend', figure: 'trend', show: ({ trend }) => trendText(trend) },
];
