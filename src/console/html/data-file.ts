import { shellWord } from '../../kit/text/shell-word.ts';

/** Returns a file of the data directory as one argument of a shell, in whichever folder that runs. */
export function dataFileWord(path: string): string {
  return `"\${OFFERLINE_DATA:-data/var}"/${shellWord(path)}`;
}
