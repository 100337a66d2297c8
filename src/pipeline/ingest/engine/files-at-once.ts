/** Each file that a statement reads has its buffers. */
const maxFiles = 16;

/**
 * Parts files into groups, in their order, of which each is read by one statement: that is planned once, and several
 * processors share it. `sought`: how much is looked for in a file; more than `maxSought` only in one by itself.
 */
export function filesAtOnce<File extends { sought: number }>(files: readonly File[], maxSought: number): File[][] {
  const groups: File[][] = [];
  let sought = 0;
  for (const file of files) {
    const group = groups.at(-1);
    if (group === undefined || group.length === maxFiles || sought + file.sought > maxSought) {
      groups.push([file]);
      sought = file.sought;
    } else {
      group.push(file);
      sought += file.sought;
    }
  }
  return groups;
}
