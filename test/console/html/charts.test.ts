import { expect, it } from 'vitest';
import { lineChart, type LineChartOptions } from '../../../src/console/charts/line-chart.ts';

const days = (...values: (number | null)[]) => values.map((value, index) => ({ at: `2026-11-0${index + 1}`, value }));

function drawn(own: Partial<LineChartOptions>): string {
  return String(
    lineChart({ title: 'Clicks', summary: 'Clicks by day.', unit: 'clicks', values: days(1, 2, 3), ...own }),
  );
}

/** The parts of the line that is drawn last: one `M` begins each. */
function partsOfLine(markup: string): number {
  return (/<path d="([^"]*)"/.exec(markup)?.[1] ?? '').split('M').length - 1;
}

it('an unknown day is a gap, not 0', () => {
  expect(partsOfLine(drawn({ values: days(1, 2, 3, 4) }))).toBe(1);
  const gap = drawn({ values: days(1, 2, null, 3, 4) });
  expect(partsOfLine(gap)).toBe(2);
  expect(gap).not.toContain('3 Nov: 0');
});

it('the day that is not over is marked, and no fall', () => {
  expect(drawn({})).not.toContain('class="running"');
  const running = drawn({ isRunning: true });
  expect(running).toContain('class="running"');
  expect(running).toContain('3 Nov: 3 clicks so far');
  expect(running).toContain('2 Nov: 2 clicks<');
});

it('a week before that is unknown has no line', () => {
  expect(drawn({ before: days(null, null, null) })).not.toContain('class="before"');
  const before = drawn({ before: days(null, 1, 1) });
  expect(before).toContain('class="before"');
  expect(before).toContain('2 Nov: 2 clicks, a week before 1 click<');
});

it('every value is below the highest line, and labels fit', () => {
  for (const greatest of [0, 0.004, 1, 9, 10, 123, 99_999, 1e7]) {
    const markup = drawn({ values: days(0, greatest) });
    const [top = 0] = [...markup.matchAll(/<line class="grid"[^>]* y1="([\d.]+)"/g)]
      .map(([, y]) => Number(y))
      .toSorted((one, other) => one - other);
    const [highest = 0] = [...markup.matchAll(/<circle class="on-hover"[^>]* cy="([\d.]+)"/g)]
      .map(([, y]) => Number(y))
      .toSorted((one, other) => one - other);
    expect(highest, `${greatest}`).toBeGreaterThanOrEqual(top);
    const labels = [...markup.matchAll(/text-anchor="end">([^<]*)</g)].map(([, label = '']) => label);
    expect(
      labels.every((label) => label.length <= 7),
      labels.join(' '),
    ).toBe(true);
  }
});
