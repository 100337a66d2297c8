/** Returns DuckDB's message with its pointer into the query; for common misspellings with a plainer text. */
export function queryMessage({ message }: Error): string {
  const words = message.replace(/^Failed to (extract statements|execute prepared statement|prepare)[^:]*: /, '');
  const written = /\n\nLINE \d+: [^]*$/.exec(words)?.[0] ?? '';
  const said = words.slice(0, words.length - written.length);
  const pointer = written + placeOf(written);
  for (const { pattern, plain } of misspelled) {
    const match = pattern.exec(said);
    if (match === null) continue;
    const near = [...said.slice(match[0].length).matchAll(/"[^"]*"/g)].map(([name]) => name);
    return plain(match[1] ?? '', near.length === 0 ? '' : `; nearest are ${near.join(', ')}`, match[2] ?? '') + pointer;
  }
  return said + pointer;
}

/** Says in words what the caret below a line of a query points to: in a log of one line the two are not aligned. */
function placeOf(pointer: string): string {
  const [, line, text = '', caret = ''] = /^\n\n(LINE \d+): (.*)\n( *)\^/.exec(pointer) ?? [];
  if (line === undefined) return '';
  const word = /^(?:\w+|\S)/.exec(text.slice(caret.length - `${line}: `.length))?.[0];
  return word === undefined ? '' : `\n(at ${word} in ${line.toLowerCase()})`;
}

/** Plain texts for misspelled names. `near`: similar names. */
const misspelled: { pattern: RegExp; plain: (name: string, near: string, second: string) => string }[] = [
  {
    pattern: /^Binder Error: Referenced column ("[^"]*") not found in FROM clause!/,
    plain: (name, near) => `there is no column ${name}${near}; \`DESCRIBE <table>\` names the columns of a table`,
  },
  {
    pattern: /^Binder Error: Table ("[^"]*") does not have a column named ("[^"]*")/,
    plain: (table, near, name) => `there is no column ${name} in ${table}${near}`,
  },
  {
    pattern: /^Binder Error: Referenced table ("[^"]*") not found!/,
    plain: (name, near) => `there is no table ${name} in what FROM names${near}`,
  },
  {
    pattern: /^Catalog Error: Table with name (\S+) does not exist!/,
    plain: (name, near) => `there is no table "${name}"${near}; \`SHOW TABLES\` names all`,
  },
  {
    pattern: /^Catalog Error: (?:Scalar|Aggregate|Table|Macro)? ?Function with name (\S+) does not exist!/,
    plain: (name, near) => `there is no function "${name}"${near}`,
  },
];
