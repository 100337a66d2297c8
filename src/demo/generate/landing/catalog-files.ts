import { mkdir, rm, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { offerColumns } from '../../../kit/vocabulary/offer-fields.ts';
import type { Device } from '../../../kit/vocabulary/values.ts';
import type { GeneratedOffer } from '../network/canonical-records.ts';
import { sources, type Source } from '../network/catalog.ts';
import { csvLine } from '../../../kit/text/csv.ts';
import { partnerZone } from '../network/network.ts';
import type { ParquetColumns, ParquetWriter } from './parquet-writer.ts';

export interface CatalogCount {
  files: number;
  /** Different offers that the newest exports hold. */
  accepted: number;
  rejected: number;
}

const dayMs = 24 * 60 * 60 * 1000;
/** Fields of the content that a record names, or writes, otherwise than the catalog keeps them, or does not have. */
const renamed = new Set(['titles', 'descriptions', 'payout', 'image_name', 'image_source', 'currency_rate']);
const parquetColumns: ParquetColumns = {
  external_id: 'VARCHAR',
  id: 'INTEGER',
  title: 'VARCHAR',
  description: 'VARCHAR',
  payout: 'DECIMAL(12, 4)',
  currency: 'VARCHAR',
  image: 'VARCHAR',
  ...Object.fromEntries(
    Object.entries(offerColumns)
      .filter(([name]) => !renamed.has(name))
      .map(([name, column]) => [name, typeof column === 'string' ? column : 'VARCHAR[]']),
  ),
  status: 'VARCHAR',
  created_at: 'TIMESTAMPTZ',
  updated_at: 'TIMESTAMPTZ',
  events: 'STRUCT(event_id VARCHAR, description VARCHAR, payout DECIMAL(12, 4))[]',
};
const csvColumns = Object.keys(parquetColumns).filter((column) => column !== 'id' && column !== 'events');

/**
 * Writes the exports of every source that is not pulled under `folder`, each in the format and the words of that
 * source. `end` is in epoch milliseconds.
 */
export async function writeCatalogs(
  folder: string,
  offers: readonly GeneratedOffer[],
  { messy, end, pulled }: { messy: boolean; end: number; pulled: readonly string[] },
  parquet: ParquetWriter,
): Promise<CatalogCount> {
  const count: CatalogCount = {
    files: 0,
    accepted: offers.filter(({ source }) => !pulled.includes(source)).length,
    rejected: 0,
  };
  const of = (source: Source) =>
    offers.filter((offer) => offer.source === source).map(({ source: _folder, ...record }) => record);
  const write = async (path: string, content: string | Uint8Array, modified = end) => {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
    await setModified(join(folder, path), modified);
    count.files++;
  };
  const faulty = <Row>(...rows: Row[]): Row[] => {
    if (messy) count.rejected += rows.length;
    return messy ? rows : [];
  };

  const today = new Date(end - 1).toISOString().slice(0, 10);
  const yesterday = new Date(end - 1 - dayMs).toISOString().slice(0, 10);

  const writers: Record<Source, () => Promise<void>> = {
    northstar: async () => {
      const northstar = of('northstar').map(asNorthstar);
      if (messy) {
        // The older export of a full catalog: the newer one beside it decides.
        await write(`northstar/catalog-${yesterday}.json`, jsonText(northstar.slice(0, -1)), end - dayMs);
      }
      await write(
        `northstar/catalog-${today}.json`,
        jsonText([
          ...northstar.map((record, index) =>
            messy && index === 0 ? { ...record, devices: ['Android', 'fridge'], quality_score: 87 } : record,
          ),
          ...faulty<object>(
            { ...northstar[0], id: undefined, external_id: 'no-9001', payout: 'ask us' },
            // Claims the public id of the source's first offer.
            { ...northstar[0], external_id: 'no-9002' },
          ),
        ]),
      );
    },
    lumen: async () => {
      const lumen = of('lumen').map(asLumen);
      await write(
        'lumen/export.json',
        jsonText({
          network: 'Lumen',
          exported_at: new Date(end).toISOString(),
          offers: [...lumen, ...faulty({ ...lumen[0], id: undefined, external_id: 'lu-9001', currency: 'SEK' })],
        }),
      );
    },
    pollhive: async () => {
      const pollhive = of('pollhive').map((record) => JSON.stringify(record));
      await write(
        'pollhive/surveys.ndjson.gz',
        gzipSync(lines([...pollhive, ...faulty('{"external_id":"po-9001","title":{"en":"Survey: pe')])),
      );
    },
    arcadia: async () => {
      await writeParquet(join(folder, 'arcadia/games.parquet'), of('arcadia'), parquet);
      await setModified(join(folder, 'arcadia/games.parquet'), end);
      count.files++;
    },
    clickfield: async () => {
      // A delta source: its first file holds most of its offers, the second what was added and paused since.
      const clickfield = of('clickfield');
      const known = clickfield.slice(0, Math.ceil(clickfield.length * 0.9));
      const changed = [...clickfield.slice(known.length), ...known.filter(({ status }) => status === 'paused')];
      await write(
        `clickfield/${yesterday}-all.csv`,
        csvText(
          [
            ...known.map((record) => ({ ...record, status: 'active' })),
            ...faulty({ ...known[0], external_id: 'cl-9001', payout: '0,05' }),
          ].map(asClickfield),
        ),
        end - dayMs,
      );
      await write(`clickfield/${today}-changes.csv`, csvText(changed.map(asClickfield)));
    },
  };
  for (const source of sources) if (!pulled.includes(source)) await writers[source]();
  return count;
}

type Exported = Omit<GeneratedOffer, 'source'>;

/** Numbers for money, `UK`, and devices as the stores call them. */
function asNorthstar(record: Exported) {
  const deviceNames: Record<Device, string> = { android: 'Android', ios: 'iPhone', desktop: 'PC' };
  return {
    ...record,
    payout: Number(record.payout),
    countries: record.countries.map((code) => (code === 'GB' ? 'UK' : code)),
    devices: record.devices.map((device) => deviceNames[device]),
  };
}

/** Country names in English, and `All` where nothing is excluded. */
function asLumen(record: Exported) {
  const names = new Intl.DisplayNames('en', { type: 'region' });
  return {
    ...record,
    countries: record.countries.length === 0 ? ['All'] : record.countries.map((code) => names.of(code) ?? code),
    devices:
      record.devices.length === 0 ? ['All'] : record.devices.map((device) => (device === 'desktop' ? 'PC' : device)),
  };
}

/** Local times without an offset; `offerline.json` names the zone. */
function asClickfield(record: Partial<Omit<Exported, 'status'>> & { status?: string }) {
  const local = (time: string | undefined) =>
    time && new Date(Date.parse(time) + partnerZone.offsetMs).toISOString().slice(0, 19).replace('T', ' ');
  return { ...record, created_at: local(record.created_at), updated_at: local(record.updated_at) };
}

async function writeParquet(path: string, records: Exported[], parquet: ParquetWriter): Promise<void> {
  const rows = `${path}.part`;
  await mkdir(dirname(path), { recursive: true });
  await writeFile(rows, lines(records.map((record) => JSON.stringify(record))));
  await parquet.convert(rows, path, parquetColumns);
  await rm(rows);
}

/** The newest export decides by its modification time, which must therefore not be that of writing. */
async function setModified(path: string, epochMs: number): Promise<void> {
  await utimes(path, epochMs / 1000, epochMs / 1000);
}

function jsonText(document: unknown): string {
  return `${JSON.stringify(document, null, 1)}\n`;
}

function csvText(records: object[]): string {
  return `${csvColumns.join(',')}\n${records.map((record) => csvLine(csvColumns, record)).join('')}`;
}

function lines(texts: string[]): string {
  return texts.map((text) => `${text}\n`).join('');
}
