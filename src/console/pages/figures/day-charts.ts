import { dayOf } from '../../../kit/time/moment.ts';
import { lineChart } from '../../charts/line-chart.ts';
import { html, type Html } from '../../../kit/html/html.ts';
import { shownNumber } from '../../html/values.ts';

/** Charts of clicks and gross earnings, of days with the newest first; none for a single day. */
export function dayCharts(
  newestFirst: readonly { day: string; clicks: number; earnings: string }[],
  asOf: string,
): Html | false {
  if (newestFirst.length < 2) return false;
  const days = newestFirst.toReversed();
  const clicks = days.reduce((sum, row) => sum + row.clicks, 0);
  const isRunning = newestFirst[0]?.day === dayOf(asOf);
  const soFar = isRunning ? ' The last day is not over.' : '';
  return html`<div class="multiples">${lineChart({
    title: 'Clicks by day',
    summary: `Clicks by day: ${shownNumber(clicks)} in all.${soFar}`,
    unit: 'clicks',
    values: days.map((row) => ({ at: row.day, value: row.clicks })),
    isRunning,
  })}${lineChart({
    title: 'Gross earnings by day, USD',
    summary: `Gross earnings by day, USD.${soFar}`,
    unit: 'USD',
    values: days.map((row) => ({ at: row.day, value: Number(row.earnings) })),
    isRunning,
  })}</div>`;
}
