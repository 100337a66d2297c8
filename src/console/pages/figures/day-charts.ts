import { lineChart } from '../../charts/line-chart.ts';
import { html, type Html } from '../../html/html.ts';
import { numberText } from '../../html/values.ts';

/** Charts of clicks and gross earnings, of days with the newest first; none for a single day. */
export async function dayCharts(
  newestFirst: readonly { day: string; clicks: number; earnings: string }[],
): Promise<Html | false> {
  if (newestFirst.length < 2) return false;
  const days = newestFirst.toReversed();
  const clicks = days.reduce((sum, row) => sum + row.clicks, 0);
  const clickChart = await lineChart(`Clicks by day: ${numberText(clicks)} in all.`, {
    values: days.map((row) => ({ at: row.day, value: row.clicks })),
  });
  const earningsChart = await lineChart('Gross earnings by day, USD.', {
    values: days.map((row) => ({ at: row.day, value: Number(row.earnings) })),
  });
  return html`<div class="multiples">${clickChart}${earningsChart}</div>`;
}
