import { figure, unknown } from '../../html/figures.ts';
import { html, type Html } from '../../html/html.ts';
import type { Column } from '../../html/table.ts';

/** An offer's figures of its window; null where it has none. */
export interface WindowFigures {
  clicks: number | null;
  conversions: number | null;
  converted_clicks: number | null;
  earnings: string | null;
  epc: string | null;
  cvr: string | null;
  conversions_24h: number | null;
  conversions_prior_24h: number | null;
  trend: string | null;
  rank: number | null;
}

const arrows = { up: '↑', down: '↓', stable: '→' };

export function trendText(trend: string | null): Html {
  if (trend === null) return unknown('no clicks and no conversions in the window');
  return html`<span class="state"><span aria-hidden="true">${arrows[trend as keyof typeof arrows]}</span> ${trend}</span>`;
}

export function rankText(rank: number | null): Html {
  return rank === null ? unknown('no conversion in 48 hours, or not active') : figure(rank);
}

/** All figures of an offer, each with what it means. */
export const figureColumns: readonly Column<WindowFigures>[] = [
  { name: 'rank', title: 'Rank', kind: 'number', figure: 'rank', show: ({ rank }) => rankText(rank) },
  { name: 'clicks', title: 'Clicks', kind: 'number', figure: 'clicks' },
  { name: 'conversions', title: 'Conversions', kind: 'number', figure: 'conversions' },
  { name: 'converted_clicks', title: 'Converted clicks', kind: 'number', figure: 'converted_clicks' },
  { name: 'earnings', title: 'Earnings, USD', kind: 'money', figure: 'earnings' },
  { name: 'epc', title: 'EPC, USD', kind: 'money', figure: 'epc' },
  { name: 'cvr', title: 'CVR', kind: 'number', figure: 'cvr' },
  { name: 'conversions_24h', title: 'Last 24 h', kind: 'number', figure: 'conversions_24h' },
  { name: 'conversions_prior_24h', title: '24 h before', kind: 'number', figure: 'conversions_prior_24h' },
  { name: 'trend', title: 'Trend', figure: 'trend', show: ({ trend }) => trendText(trend) },
];
