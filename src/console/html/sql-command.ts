/**
 * The command that asks a table for rows with this value. A value that a shell would take apart is left out:
 * advertisers and publishers make up ids, and people paste commands.
 */
export function sqlCommand(relation: string, column: string, value: string): string {
  return `offerline sql "FROM ${relation} WHERE ${column} = '${/^[\w.:@+-]+$/.test(value) ? value : '…'}'"`;
}
