import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FormatSettings } from '../../src/kit/intake/reading/format-settings.ts';
import type { FileMapping } from '../../src/kit/intake/mapping/mapping-schema.ts';
import type { LandingKind } from '../../src/kit/vocabulary/values.ts';
import type { LandingMapping } from '../../src/pipeline/landing/lines/map-lines.ts';
import { checkFile, type FileCheck } from '../../src/pipeline/landing/files/check-files.ts';

/** A landing file as it is read: its lines, and what else is known of it. */
export interface FileRead extends FileCheck {
  lines: string[];
}

/** How a file is read. */
interface ReadAs {
  name?: string;
  kind?: LandingKind;
  settings?: FormatSettings;
  mapping?: LandingMapping | undefined;
}

/** Reads bytes as a landing file of this name. */
export async function linesOfFile(
  bytes: string | Uint8Array,
  { name = 'a.csv', kind = 'clicks', settings, mapping = settings && byFormat(kind, settings) }: ReadAs = {},
): Promise<FileRead> {
  const folder = await mkdtemp(join(tmpdir(), 'offerline-file-'));
  try {
    const path = join(folder, name);
    await writeFile(path, bytes);
    const about = await stat(path, { bigint: true });
    const file = {
      kind,
      absolutePath: path,
      bytes: Number(about.size),
      modifiedNs: about.mtimeNs,
      changedNs: about.ctimeNs,
    };
    const check = await checkFile(file, { scratchPath: join(folder, 'scratch'), mapping });
    const text = check.problem === undefined ? await readFile(check.readablePath, 'utf8') : '';
    return { ...check, lines: text === '' ? [] : text.replace(/\n$/, '').split('\n') };
  } finally {
    await rm(folder, { recursive: true });
  }
}

function byFormat(kind: LandingKind, format: FormatSettings): LandingMapping {
  return { mapping: { match: `${kind}/**`, format, kind, fields: undefined } as FileMapping, rates: {} };
}
