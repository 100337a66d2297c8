import { z } from 'zod';
import { html } from '../../kit/html/html.ts';
import { facts, linkTo, textOrMissing } from '../html/values.ts';
import { defineAction, type Action } from './action.ts';
import { checked, flag, name, option } from './form-parameters.ts';
import { planTable } from './plan-table.ts';

const changed = z.object({
  site_key: z.string(),
  changes: z.array(z.object({ key: z.string(), before: z.string().nullable(), after: z.string().nullable() })),
});

/** The parts that all changes of a site have in common. */
const siteChange = {
  plan: changed,
  changes: (plan: z.output<typeof changed>) => plan,
  counts: ({ changes }: z.output<typeof changed>) => ({ changes: changes.length }),
  show: ({ site_key, changes }: z.output<typeof changed>) => [
    facts([['Site', linkTo('sites', site_key)]]),
    planTable('What changes in sites.json', changes, [
      { name: 'key', title: 'Key' },
      { name: 'before', title: 'Before', show: ({ before }) => textOrMissing(before, 'sites.json does not say') },
      { name: 'after', title: 'After', show: ({ after }) => textOrMissing(after, 'it is taken out') },
    ]),
  ],
  answer: changed,
  result: ({ changes }: z.output<typeof changed>) => ({ counts: { changes: changes.length } }),
};

/** The address is left to the command: it may hold credentials, and what operators do here is written down. */
const setSite = defineAction({
  ...siteChange,
  name: 'set-site',
  title: 'Change commission and offers of a site',
  parameters: z.object({
    site_key: name,
    commission: name.optional(),
    commission_of: name.optional(),
    allow: name.optional(),
    deny: name.optional(),
    remove: name.optional(),
  }),
  words: ({ site_key, commission, commission_of, allow, deny, remove }) => ({
    command: ['sites', 'set'],
    options: [
      ...option('commission', commission),
      ...option('commission-of', commission_of),
      ...option('allow', allow),
      ...option('deny', deny),
      ...option('remove', remove),
    ],
    names: [site_key],
  }),
});

const approveSite = defineAction({
  ...siteChange,
  name: 'approve-site',
  title: 'Approve a site',
  parameters: z.object({ site_key: name }),
  words: ({ site_key }) => ({ command: ['sites', 'approve'], names: [site_key] }),
});

const pauseSite = defineAction({
  ...siteChange,
  name: 'pause-site',
  title: 'Pause a site',
  parameters: z.object({ site_key: name }),
  words: ({ site_key }) => ({ command: ['sites', 'pause'], names: [site_key] }),
});

/** The secret is shown by none of its answers: they are kept. */
const rotateSecret = defineAction({
  name: 'rotate-secret',
  title: 'Give a site a new secret',
  parameters: z.object({ site_key: name, now: checked.optional() }),
  words: ({ site_key, now }) => ({
    command: ['sites', 'rotate'],
    options: ['--hide', ...flag('now', now)],
    names: [site_key],
  }),
  plan: z.object({ site_key: z.string(), ends_now: z.boolean() }),
  changes: (plan) => plan,
  counts: () => ({ secrets: 1 }),
  show: ({ site_key, ends_now }) => [
    facts([
      ['Site', linkTo('sites', site_key)],
      ['The secret of now', ends_now ? 'ends at once' : 'opens the feeds for one more day'],
      ['The new one', html`is written to <code>sites.json</code>, from where the publisher has to get it`],
    ]),
  ],
  answer: z.object({ previous_secret_until: z.string().nullable() }),
  result: () => ({ counts: { secrets: 1 } }),
});

export const siteActions: readonly Action[] = [setSite, approveSite, pauseSite, rotateSecret];
