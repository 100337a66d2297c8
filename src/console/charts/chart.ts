import { parse, View, type Spec } from 'vega';
import { drawn, html, type Html } from '../html/html.ts';

/** Colours are the style sheet's, so that charts follow light and dark. */
export const ink = {
  accent: 'var(--accent)',
  before: 'var(--muted)',
  text: 'var(--muted)',
  line: 'var(--line)',
  bad: 'var(--bad)',
} as const;

/** By the step between two labels: UTC, as all times here are. */
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
 * Draws a chart as SVG. `summary` says in a sentence what it shows, for those who do not see it; the numbers stand in a
 * table of the page.
 */
export async function chart(summary: string, spec: Spec): Promise<Html> {
  const view = new View(parse({ padding: 4, autosize: 'pad', ...spec, config: { axis: axisStyle } }), {
    renderer: 'none',
  });
  try {
    const svg = await view.toSVG();
    // A picture with one meaning: its parts would be read out one by one.
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
