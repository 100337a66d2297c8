import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { findLandingFiles } from '../../src/pipeline/landing/files/find-files.ts';
import { forgetRuns, generateLogs, historyEnd, type Bench, type GeneratedLogs, type Measure } from './bench.ts';
import { measureRefresh } from './measured-refresh.ts';
import { inTurns, measureOf } from './rounds.ts';

/** Columns of an export, as trackers name them, and what the mapping says of each. */
const columns = {
  click_id: 'Click ID',
  offer_id: 'Offer',
  source: 'Network',
  external_id: 'Campaign',
  site_key: 'Publisher',
  user_id: 'Sub ID',
  clicked_at: { at: 'Date', time: '%d.%m.%Y %H:%M:%S.%f', zone: 'UTC' },
  country: 'Geo',
  device: { at: 'Device Type', words: { 'Android phone': 'android', iPhone: 'ios', PC: 'desktop' } },
  ip: 'IP',
  user_agent: 'User Agent',
  sub1: 'S1',
  sub2: 'S2',
} as const;
const devices: Record<string, string> = { android: 'Android phone', ios: 'iPhone', desktop: 'PC' };

/** The first refresh of clicks in CSV of other columns, times and words against that of the same in NDJSON of ours. */
export async function measureMappedLogs(bench: Bench): Promise<Measure[]> {
  const { options, signal } = bench;
  const canonical = await generateLogs(bench, 'canonical', { ...options, end: historyEnd });
  const mapped = await asForeignCsv(canonical, join(bench.folder, 'foreign'));
  const refresh = async (logs: GeneratedLogs) => {
    await forgetRuns(logs.data);
    return measureRefresh(logs.data, historyEnd, logs, signal);
  };
  const pairs = await inTurns(
    options.rounds,
    () => refresh(mapped),
    () => refresh(canonical),
  );
  return [
    measureOf(
      `refresh of ${canonical.clicks} clicks in mapped CSV / in NDJSON of ours`,
      pairs.map(({ first, second }) => first.seconds / second.seconds),
      '<= 1.6',
    ),
    measureOf(
      'the same by processor time',
      pairs.map(({ first, second }) => first.cpuSeconds / second.cpuSeconds),
      '<= 1.6',
    ),
    measureOf(
      'its peak memory / that of the other',
      pairs.map(({ first, second }) => first.peakBytes / second.peakBytes),
      '-',
    ),
  ];
}

async function asForeignCsv({ data, clicks }: GeneratedLogs, root: string): Promise<GeneratedLogs> {
  const foreign = new DataDirectory(root);
  const { files } = await findLandingFiles(data.landing);
  for (const { kind, path, absolutePath } of files) {
    const target = join(foreign.landing, path);
    await mkdir(dirname(target), { recursive: true });
    if (kind === 'clicks') await writeCsv(absolutePath, join(dirname(target), `${basename(path, '.ndjson')}.csv`));
    else await writeFile(target, await readFile(absolutePath));
  }
  await writeFile(foreign.sitesFile, await readFile(data.sitesFile));
  const settings = JSON.parse(await readFile(data.settingsFile, 'utf8').catch(() => '{}')) as object;
  await writeFile(
    foreign.settingsFile,
    JSON.stringify({ ...settings, files: [{ match: 'clicks/**', fields: columns }] }),
  );
  return { data: foreign, clicks };
}

async function writeCsv(source: string, target: string): Promise<void> {
  const lines = createInterface({ input: createReadStream(source), crlfDelay: Infinity });
  const rows = async function* () {
    yield `${Object.values(columns)
      .map((column) => (typeof column === 'string' ? column : column.at))
      .join(';')}\n`;
    for await (const line of lines) {
      const click = JSON.parse(line) as Record<string, string | number | null | undefined>;
      const cells = Object.keys(columns).map((name) => cellOf(name, String(click[name] ?? '')));
      yield `${cells.join(';')}\n`;
    }
  };
  await pipeline(Readable.from(rows()), createWriteStream(target));
}

function cellOf(name: string, value: string): string {
  if (name === 'device') return devices[value] ?? value;
  if (name === 'clicked_at') return value.replace(/^(\d+)-(\d+)-(\d+)T([\d:.]+).*$/, '$3.$2.$1 $4');
  return /[;"\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
