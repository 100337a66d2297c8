/** Returns the advice for a source whose mode does not fit its answers. */
export function modeAdvice(source: string, mode: 'full' | 'delta'): string {
  return mode === 'full'
    ? `its answers are never the whole catalog: say so by "sources": {"${source}": {"mode": "delta"}} in offerline.json`
    : `its answers are the whole catalog: leave "mode" of "${source}" in offerline.json out, or "full"`;
}
