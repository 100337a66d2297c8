import { isBundled } from '../files/package-files.ts';

/**
 * Returns how `offerline` is typed where this process was started: npm runs it in a checkout, npx where a folder has
 * the installed package.
 */
export function typedOfferline(environment: NodeJS.ProcessEnv = process.env, bundled = isBundled): string {
  const script = environment['npm_lifecycle_event'];
  if (bundled) return script === undefined ? 'offerline' : 'npx offerline';
  return script === 'offerline' || script === 'start' ? 'npm run -s offerline --' : 'offerline';
}

const typed = typedOfferline();

/** Names commands in a text, which are between backticks, as they are typed. */
export function withTypedCommands(text: string, name = typed): string {
  return name === 'offerline' ? text : text.replaceAll('`offerline ', `\`${name} `);
}

/** The same for the commands in a page. */
export function withTypedCode(page: string, name = typed): string {
  return name === 'offerline' ? page : page.replaceAll('<code>offerline ', `<code>${name} `);
}
