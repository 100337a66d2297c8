/**
 * The command that reads the rows of a table that have this value. A value that a shell would split or run is left out:
 * advertisers and publishers choose ids, and people paste commands.
 */
export function sqlCommand(relation: string, column: string, value: string): string {
  return `offerline sql "FROM ${relation} WHERE ${column} = '${/^[\w.:@+-]+$/.test(value) ? value : '…'}'"`;
}
