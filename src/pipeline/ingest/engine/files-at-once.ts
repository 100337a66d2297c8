/** Each file that a statement reads has its buffers. */
const maxFiles = 16;

/**
 * Parts files into groups, in their order, of which each is read by one statement: that is planned once, and several
 * processors share it. `rows`: what is looked for in a file; more than `maxRows` only in a file by itself.
 */
export function filesAtOnce<File extends { rows: number }>(files: readonly File[], maxRows: number): File[][] {
  const groups: File[][] = [];
  let rows = 0;
  for (const file of files) {
    const group = groups.at(-1);
    if (group === undefined || group.length === maxFiles || rows + file.rows > maxRows) {
      groups.push([file]);
      rows = file.rows;
    } else {
      group.push(file);
      rows += file.rows;
    }
  }
  return groups;
}
