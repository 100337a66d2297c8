import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { credentials, serveSmallNetwork } from '../support/small-network.ts';

const guide = readFileSync(new URL('../../src/serve/publishers.md', import.meta.url), 'utf8');
const section = guide.split('### Keeping a copy of the list\n')[1]?.split(/^## /m)[0] ?? '';

/** Programs around the guide's functions, which print their result. Arguments: base, key, secret, type, moment. */
const languages = {
  js: {
    file: 'sync.mjs',
    interpreter: [process.execPath],
    after: `console.log(JSON.stringify(await changes(...process.argv.slice(2))));`,
  },
  php: { file: 'sync.php', interpreter: ['php', '-n'], after: 'echo json_encode(changes(...array_slice($argv, 1)));' },
  python: { file: 'sync.py', interpreter: ['python3'], after: 'import sys\nprint(json.dumps(changes(*sys.argv[1:])))' },
};

let running: Awaited<ReturnType<typeof serveSmallNetwork>>;
beforeAll(async () => {
  running = await serveSmallNetwork();
});
afterAll(() => running.close());

/** The only block of a language in the section. */
function block(language: string): string {
  const blocks = [...section.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))];
  expect(blocks, language).toHaveLength(1);
  return blocks[0]?.[1] ?? '';
}

const { site_key = '', site_secret = '' } = Object.fromEntries(new URLSearchParams(credentials('site-c')));

/** The answer itself, which is one page. */
async function listOf(type: string, since?: string) {
  const changed = since === undefined ? '' : `&updated_since=${encodeURIComponent(since)}&include_removed=1`;
  const answer = await running.get(`/c/api/v1/offers?${credentials('site-c')}&type=${type}&limit=500${changed}`);
  const {
    offers,
    removed = [],
    has_more,
  } = (await answer.json()) as { offers: object[]; removed?: { id: number }[]; has_more: boolean };
  expect(has_more).toBe(false);
  return { offers, removed: removed.map(({ id }) => id), moment: answer.headers.get('x-data-as-of') };
}

it.for(Object.entries(languages))(
  'the guide’s %s keeps a copy of both types',
  async ([language, { file, interpreter, after }], { skip }) => {
    const [program = '', ...words] = interpreter;
    if (spawnSync(program, ['--version']).error !== undefined) skip(`there is no ${program} here`);
    const folder = mkdtempSync(join(tmpdir(), 'sync-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    // Pages of two, so that there are several.
    const text = block(language).replace(/\b500\b(?=[ })\]])/, '2');
    writeFileSync(join(folder, file), `${text}\n${after}`);
    for (const [type, since] of [['offer'], ['multireward'], ['offer', '2020-01-01T00:00:00Z']] as [
      string,
      string?,
    ][]) {
      const given = [running.address, site_key, site_secret, type, ...(since === undefined ? [] : [since])];
      const { stdout } = await promisify(execFile)(program, [...words, join(folder, file), ...given]);
      const expected = await listOf(type, since);
      expect(expected.offers.length).toBeGreaterThan(0);
      expect(JSON.parse(stdout)).toEqual(expected);
    }
  },
);

it('the guide’s shell line answers', async () => {
  const { stdout } = await promisify(execFile)('bash', ['-c', block('sh')], {
    env: { ...process.env, BASE: running.address, SITE_KEY: site_key, SITE_SECRET: site_secret },
  });
  expect(JSON.parse(stdout)).toMatchObject({ success: true, has_more: false, limit: 500 });
});
