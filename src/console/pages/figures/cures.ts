/** The place in the console where a command's trouble is shown with its cure, and mended where an action can. */
export interface Cure {
  /** The console's page. */
  href: string;
  /** The page in words, such as `site wall`. */
  page: string;
  /** An action that mends it, with its parameters. */
  action?: { action: string; title: string; values: Readonly<Record<string, string>> };
  /** It is about postbacks that a publisher does not get: its users wait for their rewards. */
  isReceiver?: true;
}

interface Rule {
  command: RegExp;
  cure: (argument: string) => Cure;
}

/** Rules by the command that helps, as `offerline status` advises it. */
const rules: readonly Rule[] = [
  {
    command: /^offerline offers accept (\d+)$/,
    cure: (file) => ({
      href: `/files/${file}`,
      page: 'the held export',
      action: { action: 'accept-export', title: 'Accept it', values: { file_id: file } },
    }),
  },
  {
    command: /^offerline postbacks test (.+)$/,
    cure: (site) => ({
      href: `/sites/${encodeURIComponent(site)}`,
      page: `site ${site}`,
      action: { action: 'test-postback', title: 'Send a test', values: { site_key: site } },
      isReceiver: true,
    }),
  },
  {
    command: /^offerline postbacks retry/,
    cure: () => ({
      href: '/postbacks?state=dead',
      page: 'dead postbacks',
      action: { action: 'retry-postbacks', title: 'Retry all', values: { all: 'yes' } },
      isReceiver: true,
    }),
  },
  { command: /^offerline postbacks/, cure: () => ({ href: '/postbacks', page: 'postbacks', isReceiver: true }) },
  { command: /^offerline sites/, cure: () => ({ href: '/sites', page: 'sites' }) },
  {
    command: /^offerline sources pull (.+)$/,
    cure: (source) => ({
      href: '/sources',
      page: 'sources',
      action: { action: 'pull', title: 'Pull it', values: { sources: source } },
    }),
  },
  { command: /^offerline sources/, cure: () => ({ href: '/sources', page: 'sources' }) },
  {
    command: /^offerline sql .*'quarantined'/,
    cure: () => ({ href: '/files?status=quarantined', page: 'quarantined files' }),
  },
  {
    command: /^offerline sql .*rejects/,
    cure: () => ({ href: '/rejects', page: 'rejected rows' }),
  },
  {
    command: /^offerline backfill/,
    cure: () => ({ href: '/days', page: 'days', action: { action: 'backfill', title: 'Backfill', values: {} } }),
  },
  {
    command: /^offerline run refresh/,
    cure: () => ({ href: '/runs', page: 'runs', action: { action: 'refresh', title: 'Refresh', values: {} } }),
  },
  { command: /^offerline run/, cure: () => ({ href: '/runs', page: 'runs' }) },
];

/** A command that is typed on the machine only, such as a repair, is on the page of the machine. */
export function cureOf(command: string): Cure {
  for (const { command: pattern, cure } of rules) {
    const found = pattern.exec(command);
    if (found !== null) return cure(unquoted(found[1] ?? ''));
  }
  return { href: '/machine', page: 'this machine' };
}

/** An argument without the quotes of a shell. */
function unquoted(argument: string): string {
  const quoted = /^(?:-- )?'(.*)'$/s.exec(argument)?.[1];
  return quoted === undefined ? argument : quoted.replaceAll(String.raw`'\''`, "'");
}
