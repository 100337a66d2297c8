import { describe, expect, it } from 'vitest';
import { actions } from '../../../src/console/actions/actions.ts';
import { errorLine, jobLines } from '../../../src/console/actions/log-lines.ts';
import { planDigest } from '../../../src/console/actions/preview.ts';

function wordsOf(name: string, given: object) {
  const action = actions.get(name);
  if (action === undefined) throw new Error(`there is no action ${name}`);
  const parameters = action.parameters.parse(given);
  return {
    preview: action.previewArguments(parameters),
    run: action.arguments(parameters),
    typed: action.typed(parameters),
  };
}

describe('the words of an action', () => {
  it.each([
    ['accept-export', { file_id: '7' }, ['offers', 'accept', '--json', '--', '7']],
    ['test-postback', { site_key: '--all' }, ['postbacks', 'test', '--json', '--', '--all']],
    [
      'set-site',
      { site_key: '--all', deny: '--now', commission: '0.2' },
      ['sites', 'set', '--commission=0.2', '--deny=--now', '--json', '--', '--all'],
    ],
    ['rotate-secret', { site_key: 's', now: 'yes' }, ['sites', 'rotate', '--hide', '--now', '--json', '--', 's']],
    ['refresh', {}, ['run', 'refresh', '--json']],
    ['pull', { sources: ['one', '--scheduled'] }, ['sources', 'pull', '--json', '--', 'one', '--scheduled']],
    ['retry-postbacks', { ids: 'w1, --all\nc2' }, ['postbacks', 'retry', '--json', '--', 'w1', '--all', 'c2']],
    [
      'retry-postbacks',
      { site: '--dry-run', until: '2026-11-18T10:00:00Z' },
      ['postbacks', 'retry', '--site=--dry-run', '--until=2026-11-18T10:00:00Z', '--json'],
    ],
    ['backfill', { from: '2026-11-01', all: 'yes' }, ['backfill', 'reports', '--from=2026-11-01', '--all', '--json']],
  ])('%s %j: no value is read as an option', (name, given, words) => {
    const { run, preview } = wordsOf(name, given);
    expect(run).toEqual(words);
    // The preview adds --dry-run, before `--`.
    expect(preview.filter((word) => word !== '--dry-run')).toEqual(words);
    const end = preview.indexOf('--');
    expect(preview.slice(0, end < 0 ? undefined : end)).toContain('--dry-run');
  });

  it('can be typed in a shell', () => {
    expect(wordsOf('retry-postbacks', { ids: "it's; reboot" }).typed).toBe(
      String.raw`offerline postbacks retry -- 'it'\''s;' reboot`,
    );
  });

  it.each([
    ['accept-export', { file_id: '1e3' }],
    ['accept-export', {}],
    ['accept-export', { file_id: '0' }],
    ['retry-postbacks', {}],
    ['retry-postbacks', { ids: ' , ' }],
    ['retry-postbacks', { site: 's', since: 'yesterday' }],
    ['retry-postbacks', { ids: Array.from({ length: 501 }, (_, index) => `w${index}`) }],
    ['backfill', { from: '2026-02-30' }],
    ['test-postback', { site_key: '' }],
  ])('%s does not take %j', (name, given) => {
    expect(actions.get(name)?.parameters.safeParse(given).success).toBe(false);
  });
});

describe('the digest of a preview', () => {
  const accept = actions.get('accept-export');
  const document = {
    held: { fileId: 7, sha256: 'abc', rows: 4, source: 'net', path: 'offers/net/1.ndjson' },
    removes: 1,
    active: 3,
    as_of: 'earlier',
    earnings: '1.5',
    offers: [
      { offer_id: 2, status: 'active', title: 'Quest', clicks: 3, conversions: 1, earnings: '1.5' },
      { offer_id: 1, status: 'paused', title: null, clicks: 0, conversions: 0, earnings: '0' },
    ],
  };
  const digest = (own: object, parameters: object = { file_id: 7 }) =>
    planDigest('accept-export', parameters, accept?.changes({ ...document, ...own }));

  it('stays while only earnings and times change', () => {
    const [one, other] = document.offers;
    expect(digest({ earnings: '9', as_of: 'later', offers: [{ ...other, earnings: '9' }, one] })).toBe(digest({}));
    expect(planDigest('a', { x: 1, y: { b: 2, a: 3 } }, [])).toBe(planDigest('a', { y: { a: 3, b: 2 }, x: 1 }, []));
  });

  it('changes where the action would make other changes', () => {
    const others = [
      digest({ offers: document.offers.slice(1) }),
      digest({ held: { ...document.held, sha256: 'abd' } }),
      digest({ offers: document.offers.map((offer) => ({ ...offer, status: 'paused' })) }),
      digest({}, { file_id: 8 }),
      planDigest('refresh', { file_id: 7 }, accept?.changes(document)),
    ];
    expect(new Set([digest({}), ...others]).size).toBe(others.length + 1);
  });
});

describe('the lines of a job', () => {
  it('have the progress of a step; other lines stay as they are', () => {
    const log = [
      '{"level":"info","time":"2026-11-22T10:00:00.000Z","done":20,"total":60,"msg":"reports"}',
      "error: unknown option '--x'",
      '[1, 2]',
      '{"level":"info","ti',
    ];
    expect(jobLines(log.join('\n'), 10)).toEqual([
      { time: '2026-11-22T10:00:00.000Z', level: 'info', text: 'reports', done: 20, total: 60 },
      { time: null, level: 'info', text: log[1], done: null, total: null },
      { time: null, level: 'info', text: '', done: null, total: null },
      { time: null, level: 'info', text: log[3], done: null, total: null },
    ]);
    expect(jobLines(log.join('\n'), 1)).toHaveLength(1);
  });

  it('have no query and no user of a URL', () => {
    const textOf = (msg: string) => jobLines(JSON.stringify({ msg }), 1)[0]?.text;
    expect(textOf('GET "https://ann:pw@p.example/in?token=t&x=1#f" failed')).toBe(
      'GET "https://p.example/in?…" failed',
    );
    expect(textOf('POST http://p.example?token=t: reset')).toBe('POST http://p.example?… reset');
    expect(textOf('to http://p.example/in failed (what then?)')).toBe('to http://p.example/in failed (what then?)');
    expect(textOf('https://user:secret@host/x failed')).toBe('https://host/x failed');
    expect(textOf('no answer of postgres://own:p@ss@db:5432/net?sslmode=off, redis://:pw@[::1]:6379')).toBe(
      'no answer of postgres://db:5432/net?… redis://[::1]:6379',
    );
    expect(jobLines('Error: connect s3+https://key:pw@bucket', 1)[0]?.text).toBe('Error: connect s3+https://bucket');
    expect(errorLine('Error: postgres://own:pw@db refused')).toBe('Error: postgres://db refused');
    expect(textOf('http://p.example/@scope/name, a@b.example')).toBe('http://p.example/@scope/name, a@b.example');
    expect(textOf('x'.repeat(2000))?.length).toBe(501);
  });

  it('the last error is the reason of an end, with all lines of it', () => {
    const line = (level: string, msg: string) => JSON.stringify({ level, msg });
    const refused = 'sites.json as it would be cannot be used:\n  line 19: a number without quotes is wanted';
    expect(errorLine([line('error', 'first'), line('error', refused), line('info', 'bye')].join('\n'))).toBe(refused);
    expect(errorLine('error: missing argument\n')).toBe('error: missing argument');
    expect(errorLine("error: argument '33' is invalid.\n(add --help for what it takes)\n")).toBe(
      "error: argument '33' is invalid.",
    );
    expect(errorLine('TypeError: no x\n    at y\n\nNode.js v24.1.0\n')).toBe('TypeError: no x');
    expect(errorLine('')).toBeNull();
  });
});
