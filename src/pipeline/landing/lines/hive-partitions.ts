import { percentDecoded } from '../../../kit/text/percent-encoded.ts';

/** Name that Hive gives the folder of rows without a value. */
const noValue = '__HIVE_DEFAULT_PARTITION__';

/** Returns the columns that the folders of a path name, such as `site_key=beta/`; null where there is no value. */
export function partitionsOf(path: string): { name: string; value: string | null }[] {
  const folders = path.split('/').slice(0, -1);
  return folders.flatMap((folder) => {
    const end = folder.indexOf('=');
    if (end < 1) return [];
    const value = decoded(folder.slice(end + 1));
    return [{ name: decoded(folder.slice(0, end)), value: value === noValue ? null : value }];
  });
}

/** A percent sign that begins no code is kept. */
function decoded(text: string): string {
  return percentDecoded(text) ?? text;
}
