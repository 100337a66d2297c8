/** Each file that a statement reads has its buffers. */
const maxFiles = 16;

/**
 * Parts files into groups, in their order, of which each is read by one statement: that is planned once, and several
 * processors share it. `soughtIn`: how much is looked for in a file; more than `maxSought` only in one by itself.
 */
export function filesAtOnce<File>(
  files: readonly File[],
  soughtIn: (file: File) => number = () => 0,
  maxSought = 0,
): File[][] {
  const groups: File[][] = [];
  let sought = 0;
  for (const file of files) {
    const group = groups.at(-1);
    if (group === undefined || group.length === maxFiles || sought + soughtIn(file) > maxSought) {
      groups.push([file]);
      sought = soughtIn(file);
    } else {
      group.push(file);
      sought += soughtIn(file);
    }
  }
  return groups;
}
