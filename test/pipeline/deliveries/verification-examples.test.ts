import { execFileSync, spawn, spawnSync, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { request as ask, type IncomingMessage } from 'node:http';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { postbackRequest } from '../../../src/postbacks/http/postback-request.ts';
import type { Postback } from '../../../src/postbacks/rules/postback.ts';
import { siteSchema } from '../../../src/kit/sites/sites.ts';

/** Page that shows publishers how to verify a postback. */
const page = new URL('../../../src/serve/publishers.md', import.meta.url);
const heading = 'Verifying a postback';
const vectorsFile = fileURLToPath(new URL('../../vectors/postback-signatures.json', import.meta.url));

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

/** Target of the GETs that the examples' servers are sent. */
const getSecret = 'a-secret-of-the-site';

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
console.log(JSON.stringify(cases.map((c) => c.fields ? isSigned(c.secret, c.fields, c.signature) : c.body ? isSigned(c.secret, JSON.parse(c.body), JSON.parse(c.body).signature) : isSignedRequest(c.secret, c.headers, c.content, c.now))));`,
    server: (block: string) => `${block}
import { createServer } from 'node:http';
const server = createServer((request, response) =>
  response.writeHead(isSignedGet('${getSecret}', request) ? 200 : 401).end());
server.listen(0, '127.0.0.1', () => console.log(\`http://127.0.0.1:\${server.address().port}\`));`,
  },
  php: {
    file: 'verify.php',
    command: (file: string) => ['php', '-n', file],
    program: (block: string) => `${block}
$cases = json_decode(file_get_contents($argv[1]), true);
echo json_encode(array_map(fn ($c) => isset($c['fields']) ? is_signed($c['secret'], $c['fields'], $c['signature']) : (isset($c['body']) ? is_signed($c['secret'], json_decode($c['body'], true), json_decode($c['body'], true)['signature']) : is_signed_request($c['secret'], $c['headers'], $c['content'], $c['now'])), $cases));`,
    serverCommand: (file: string) => ['php', '-n', '-S', '127.0.0.1:0', file],
    server: (block: string) => `${block}
http_response_code(is_signed_get('${getSecret}', $_SERVER) ? 200 : 401);`,
  },
  python: {
    file: 'verify.py',
    command: (file: string) => ['python3', file],
    program: (block: string) => `${block}
import sys
cases = json.load(open(sys.argv[1], encoding="utf-8"))
print(json.dumps([is_signed(c["secret"], c["fields"], c["signature"]) if "fields" in c else is_signed_body(c["secret"], c["body"]) if "body" in c else is_signed_request(c["secret"], c["headers"], c["content"], c["now"]) for c in cases]))`,
    server: (block: string) => `${block}
from http.server import BaseHTTPRequestHandler, HTTPServer
class Receiver(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if is_signed_get("${getSecret}", self) else 401)
        self.end_headers()
server = HTTPServer(("127.0.0.1", 0), Receiver)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()`,
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
    server: (
      block: string,
    ) => `${block.replace('package postback', 'package main').replace('import (', 'import (\n\t"fmt"\n\t"net"')}
func main() {
	listener, _ := net.Listen("tcp", "127.0.0.1:0")
	fmt.Println("http://" + listener.Addr().String())
	http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !IsSignedGet("${getSecret}", r) {
			w.WriteHeader(401)
		}
	}))
}`,
  },
};

/** A sentence where the machine lacks the language's interpreter, which is printed too. */
function missing(language: string, interpreter: string): string | undefined {
  if (spawnSync(interpreter, [language === 'go' ? 'version' : '--version']).error === undefined) return undefined;
  console.log(`the example for ${language} is not run: there is no ${interpreter} here`);
  return `there is no ${interpreter} here`;
}

/** The status with which a server answers a GET of these headers, whose target is sent unchanged. */
async function statusOf(server: string, target: string, headers: Record<string, string>): Promise<number | undefined> {
  const { hostname, port } = new URL(server);
  const sent = ask({ hostname, port, path: target, headers, agent: false }).end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode;
}

/** Every vector as it is, which must pass, and changed in one place, which must not. */
function casesOf(language: string): { is: boolean; what: string; [field: string]: any }[] {
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
      // The body of a POST, with the reward as a number; Node and PHP read it through binary floating point.
      ...(post === undefined || language === 'go' || (language !== 'python' && fields.reward.length > 15)
        ? []
        : [
            { is: true, what: `${what}, as a body`, secret, body: post.body },
            { is: false, what: `${what}, as a body`, secret: `${secret}x`, body: post.body },
          ]),
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

/** The address that a server prints when it listens, on whichever of its outputs. */
async function addressOf(program: ChildProcessByStdio<null, Readable, Readable>): Promise<string> {
  let said = '';
  return new Promise((resolve, reject) => {
    program.once('exit', () => reject(new Error(`the server ended: ${said}`)));
    for (const output of [program.stdout, program.stderr])
      output.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        const address = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0];
        if (address !== undefined) resolve(address);
      });
  });
}

describe('the example that publishers are given', () => {
  it.for(Object.entries(languages))(
    'for %s distinguishes genuine postbacks from others',
    ([language, { file, command, program }], { skip }) => {
      const folder = mkdtempSync(join(tmpdir(), 'verify-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      writeFileSync(join(folder, file), program(example(language)));
      const cases = casesOf(language);
      writeFileSync(join(folder, 'cases.json'), JSON.stringify(cases));
      const [interpreter = '', ...leading] = command(join(folder, file));
      const reason = missing(language, interpreter);
      if (reason !== undefined) skip(reason);
      const said = JSON.parse(
        execFileSync(interpreter, [...leading, join(folder, 'cases.json')], { encoding: 'utf8' }),
      ) as boolean[];
      expect(cases.map((one, index) => ({ ...one, is: said[index] }))).toEqual(cases);
      expect(cases.filter(({ is }) => is).length).toBeGreaterThan(30);
    },
  );

  it.for(Object.entries(languages))(
    'for %s verifies a GET as its server has it',
    async ([language, entry], { skip }) => {
      const folder = mkdtempSync(join(tmpdir(), 'verify-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const file = join(folder, entry.file);
      writeFileSync(file, entry.server(example(language)));
      const [interpreter = '', ...words] = ('serverCommand' in entry ? entry.serverCommand : entry.command)(file);
      const reason = missing(language, interpreter);
      if (reason !== undefined) skip(reason);
      const program = spawn(interpreter, words, { stdio: ['ignore', 'pipe', 'pipe'] });
      onTestFinished(() => void program.kill('SIGKILL'));
      const server = await addressOf(program);

      const site = siteSchema.parse({
        site_key: 'one',
        site_secret: getSecret,
        postback: { url: 'https://partner.example/a%20b/ü?u={user_id}&x=%2F', method: 'GET' },
      });
      const postback = {
        webhookId: 'wh_1',
        event: 'credit',
        siteKey: 'one',
        userId: 'zoë&/+ %',
        clickId: 'c',
        reward: '1.5',
      };
      const { url, headers } = postbackRequest(site, postback as Postback, Date.now());
      const target = url.slice('https://partner.example'.length);
      expect(await statusOf(server, target, headers)).toBe(200);
      expect(await statusOf(server, target.replace('reward=1.5', 'reward=15'), headers)).toBe(401);
      expect(await statusOf(server, target, { ...headers, 'webhook-id': 'wh_2' })).toBe(401);
      expect(await statusOf(server, target, {})).toBe(401);
    },
  );
});
