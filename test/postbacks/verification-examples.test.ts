import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';

/** Where publishers find how to verify a postback. */
const page = new URL('../../src/serve/publishers.md', import.meta.url);
const heading = 'Verifying a postback';
const vectorsFile = fileURLToPath(new URL('../vectors/postback-signatures.json', import.meta.url));

/** The section's only block in the given language. */
function example(language: string): string {
  const text = readFileSync(page, 'utf8');
  const section =
    text
      .slice(text.search(new RegExp(`^#+ ${heading}$`, 'm')))
      .replace(/^#.*\n/, '')
      .split(/^#+ [A-Z]/m)[0] ?? '';
  const blocks = [...section.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))];
  expect(blocks, `blocks of ${language} under "${heading}"`).toHaveLength(1);
  return blocks[0]?.[1] ?? '';
}

/**
 * Programs around the examples. Each reads the cases from a file, and prints a list of what the example said: true or
 * false per case, in their order.
 */
const languages = {
  js: {
    file: 'verify.mjs',
    command: (file: string) => [process.execPath, file],
    program: (block: string) => `${block}
import { readFileSync } from 'node:fs';
const cases = JSON.parse(readFileSync(process.argv[2], 'utf8'));
console.log(JSON.stringify(cases.map((c) => c.fields ? isSigned(c.secret, c.fields, c.signature) : isSignedRequest(c.secret, c.headers, c.content, c.now))));`,
  },
  php: {
    file: 'verify.php',
    command: (file: string) => ['php', '-n', file],
    program: (block: string) => `${block}
$cases = json_decode(file_get_contents($argv[1]), true);
echo json_encode(array_map(fn ($c) => isset($c['fields']) ? is_signed($c['secret'], $c['fields'], $c['signature']) : is_signed_request($c['secret'], $c['headers'], $c['content'], $c['now']), $cases));`,
  },
  python: {
    file: 'verify.py',
    command: (file: string) => ['python3', file],
    program: (block: string) => `${block}
import json, sys
cases = json.load(open(sys.argv[1], encoding="utf-8"))
print(json.dumps([is_signed(c["secret"], c["fields"], c["signature"]) if "fields" in c else is_signed_request(c["secret"], c["headers"], c["content"], c["now"]) for c in cases]))`,
  },
  go: {
    file: 'verify.go',
    command: (file: string) => ['go', 'run', file],
    program: (
      block: string,
    ) => `${block.replace('package postback', 'package main').replace('import (', 'import (\n\t"encoding/json"\n\t"fmt"\n\t"os"')}
type testCase struct {
	Secret, Signature, Content string
	Fields, Headers map[string]string
	Now int64
}

func main() {
	text, _ := os.ReadFile(os.Args[1])
	var cases []testCase
	if err := json.Unmarshal(text, &cases); err != nil {
		panic(err)
	}
	said := []bool{}
	for _, c := range cases {
		if c.Fields != nil {
			said = append(said, IsSigned(c.Secret, c.Fields, c.Signature))
		} else {
			said = append(said, IsSignedRequest(c.Secret, c.Headers, c.Content, time.Unix(c.Now, 0)))
		}
	}
	out, _ := json.Marshal(said)
	fmt.Println(string(out))
}`,
  },
};

/** Every vector as it is, which must pass, and changed in one place, which must not. */
function casesOf(): { is: boolean; what: string; [field: string]: any }[] {
  const vectors = JSON.parse(readFileSync(vectorsFile, 'utf8')) as any[];
  return vectors.flatMap(({ what, secret, fields, signature, get, post }) => {
    const signed = { is: true, what, secret, fields, signature };
    const requests = [
      get && { headers: get.headers, content: get.url.slice(get.url.indexOf('/', 8)) },
      post && { headers: post.headers, content: post.body },
    ].filter(Boolean);
    return [
      signed,
      { ...signed, is: false, fields: { ...fields, reward: `${fields.reward}1` } },
      { ...signed, is: false, fields: { ...fields, user_id: `${fields.user_id} ` } },
      { ...signed, is: false, secret: `${secret}x` },
      { ...signed, is: false, signature: 'ä' },
      ...requests.flatMap(({ headers, content }) => {
        const now = Number(headers['webhook-timestamp']);
        const request = { is: true, what, secret, headers, content, now: now + 300 };
        return [
          request,
          { ...request, is: false, content: `${content} ` },
          { ...request, is: false, headers: { ...headers, 'webhook-id': 'another' } },
          { ...request, is: false, secret: `${secret}x` },
          { ...request, is: false, now: now + 301 },
          { ...request, is: false, now: now - 301 },
        ];
      }),
      ...(post?.previous_secret === undefined
        ? []
        : [
            {
              is: true,
              what: `${what}, with the older secret`,
              secret: post.previous_secret,
              headers: post.headers,
              content: post.body,
              now: Number(post.headers['webhook-timestamp']),
            },
          ]),
    ];
  });
}

describe('the example that publishers are given', () => {
  it.for(Object.entries(languages))(
    'for %s tells genuine postbacks from others',
    ([language, { file, command, program }], { skip }) => {
      const folder = mkdtempSync(join(tmpdir(), 'verify-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      writeFileSync(join(folder, file), program(example(language)));
      const cases = casesOf();
      writeFileSync(join(folder, 'cases.json'), JSON.stringify(cases));
      const [interpreter = '', ...leading] = command(join(folder, file));
      if (spawnSync(interpreter, [language === 'go' ? 'version' : '--version']).error !== undefined) {
        console.log(`the example for ${language} is not run: there is no ${interpreter} here`);
        skip(`there is no ${interpreter} here`);
      }
      const said = JSON.parse(
        execFileSync(interpreter, [...leading, join(folder, 'cases.json')], { encoding: 'utf8' }),
      ) as boolean[];
      expect(cases.map((one, index) => ({ ...one, is: said[index] }))).toEqual(cases);
      expect(cases.filter(({ is }) => is).length).toBeGreaterThan(30);
    },
  );
});
