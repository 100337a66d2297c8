import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { postbackSchema } from '../../../src/sources/config/postback-settings.ts';
import { SentParameters } from '../../../src/tracker/conversions/guard/sent-parameters.ts';
import { SourceGuard } from '../../../src/tracker/conversions/guard/source-guard.ts';
import { refusalStatus } from '../../../src/tracker/conversions/report/refusal.ts';
import { macroValues } from '../../../src/pipeline/routes/destination.ts';

const page = readFileSync(new URL('../../../src/tracker/advertisers.md', import.meta.url), 'utf8');

/** The page's only block in the given language. */
function example(language: string): string {
  const blocks = [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))];
  expect(blocks, `blocks of ${language}`).toHaveLength(1);
  return blocks[0]?.[1] ?? '';
}

interface Case {
  secret: string;
  fields: Record<string, string>;
}

/** Programs around the examples: each is given a file of cases, and prints a list of what the example signed. */
const languages = {
  js: {
    file: 'sign.mjs',
    command: [process.execPath],
    program: (block: string) => `${block}
import { readFileSync } from 'node:fs';
const cases = JSON.parse(readFileSync(process.argv[2], 'utf8'));
console.log(JSON.stringify(cases.map((c) => signedQuery(c.secret, c.fields))));`,
  },
  php: {
    file: 'sign.php',
    command: ['php', '-n'],
    program: (block: string) => `${block}
$cases = json_decode(file_get_contents($argv[1]), true);
echo json_encode(array_map(fn ($c) => signed_query($c['secret'], $c['fields']), $cases));`,
  },
  python: {
    file: 'sign.py',
    command: ['python3'],
    program: (block: string) => `${block}
import json, sys
print(json.dumps([signed_query(c["secret"], c["fields"]) for c in json.load(open(sys.argv[1], encoding="utf-8"))]))`,
  },
  sh: {
    file: 'sign.sh',
    command: ['sh'],
    program: (block: string, cases: readonly Case[]) => {
      const word = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
      const calls = cases.map(({ secret, fields }) => {
        const words = [secret, ...Object.entries(fields).map(([name, value]) => `${name}=${value}`)];
        return `printf '"%s"' "$(signed_query ${words.map(word).join(' ')})"`;
      });
      return `${block}\nprintf '['\n${calls.join("\nprintf ','\n")}\nprintf ']'\n`;
    },
  },
};

const cases: Case[] = [
  { secret: 'a-secret-of-16-or-more', fields: { transaction_id: 'T1', click_id: 'abc', payout: '1.50' } },
  { secret: 'Schlüssel, wie er sein soll', fields: { reason: `Grüße "'()*!~/ & = + % $HOME \\ 😀`, click_id: 'c' } },
  { secret: 'a-secret-of-16-or-more', fields: { event_id: '', click_id: 'c', sub: ' ', Sub: 'x', sub_2: '2' } },
];

function letsPass(secret: string, query: string, now: number): boolean {
  const guard = new SourceGuard('north', postbackSchema.parse({ signature: { scheme: 'offerline', secret } }));
  const request = { source: 'north', method: 'GET' as const, query, headers: {}, body: Buffer.alloc(0), address: '' };
  return guard.letsPass(request, SentParameters.of(request), now);
}

describe('the example that advertisers are given', () => {
  it.for(Object.entries(languages))(
    'for %s signs so that it passes',
    ([language, { file, command, program }], { skip }) => {
      const folder = mkdtempSync(join(tmpdir(), 'sign-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      writeFileSync(join(folder, file), program(example(language), cases));
      writeFileSync(join(folder, 'cases.json'), JSON.stringify(cases));
      const [interpreter = '', ...options] = command;
      if (spawnSync(interpreter, language === 'sh' ? ['-c', ':'] : ['--version']).error !== undefined) {
        console.log(`the example for ${language} is not run: there is no ${interpreter} here`);
        skip(`there is no ${interpreter} here`);
      }
      const printed = execFileSync(interpreter, [...options, join(folder, file), join(folder, 'cases.json')], {
        encoding: 'utf8',
      });
      const signed = JSON.parse(printed) as string[];
      for (const [index, { secret, fields }] of cases.entries()) {
        const query = signed[index] ?? '';
        expect(Object.fromEntries(new URLSearchParams(query))).toMatchObject(fields);
        expect(letsPass(secret, query, Date.now())).toBe(true);
        expect(letsPass(secret, `${query}&more=1`, Date.now())).toBe(false);
        expect(letsPass(`${secret}x`, query, Date.now())).toBe(false);
      }
    },
  );

  it('as text holds', () => {
    const query = example('text').trim();
    expect(letsPass('an-example-of-a-secret', query, 1_794_996_000_000)).toBe(true);
    expect(letsPass('an-example-of-a-secret', query.replace('1.50', '1.5'), 1_794_996_000_000)).toBe(false);
  });
});

describe('the guide for advertisers', () => {
  it('has all macros and no others', () => {
    const documented = [...page.matchAll(/^\| (`\{[^|]*) \|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`\{(\w+)\}`/g)].map(([, name = '']) => name),
    );
    expect(documented.toSorted()).toEqual([...macroValues.keys()].toSorted());
  });

  it('has each refusal with its status', () => {
    const missing = Object.entries(refusalStatus).filter(
      ([reason, status]) => !new RegExp(`^\\| ${status} [^|]*\`${reason}\``, 'm').test(page),
    );
    expect(missing).toEqual([]);
  });
});
