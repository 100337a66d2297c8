import { parse, View, type Spec } from 'vega';
import { drawn, html, type Html } from '../../kit/html/html.ts';

/** Variables of the style sheet, so that charts follow the light and the dark theme. */
export const ink = {
  accent: 'var(--accent)',
  before: 'var(--muted)',
  text: 'var(--muted)',
  line: 'var(--line)',
  bad: 'var(--bad)',
} as const;

/** Formats of labels by the step between two of them, UTC. */
export const timeFormat = {
  milliseconds: '%H:%M:%S.%L',
  seconds: '%H:%M:%S',
  minutes: '%H:%M',
  hours: '%H:%M',
  day: '%-d %b',
  date: '%-d %b',
  week: '%-d %b',
  month: '%b %Y',
  year: '%Y',
} as const;

const axisStyle = {
  labelColor: ink.text,
  labelFont: 'inherit',
  labelFontSize: 11,
  titleColor: ink.text,
  tickColor: ink.line,
  domainColor: ink.line,
  gridColor: ink.line,
} as const;

/**
 * Draws a chart as SVG. `summary` says in a sentence what it shows, for readers who do not see it; a table of the page
 * has the numbers.
 */
export async function chart(summary: string, spec: Spec): Promise<Html> {
  const view = new View(parse({ padding: 4, autosize: 'pad', ...spec, config: { axis: axisStyle } }), {
    renderer: 'none',
  });
  try {
    const svg = await view.toSVG();
    // Otherwise a screen reader would read out each part of the chart.
    const inner = svg.replace(
      /^<svg [^>]*?width="(\d+)" height="(\d+)"[^>]*>/,
      '<svg width="$1" height="$2" viewBox="0 0 $1 $2" aria-hidden="true" focusable="false">',
    );
    return html`<figure class="chart">
      <div class="scrolled" tabindex="0" role="img" aria-label="${summary}">${drawn(inner)}</div>
      <figcaption>${summary}</figcaption>
    </figure>`;
  } finally {
    view.finalize();
  }
}
