import { connectorNamed, connectorNames } from '../connectors/connectors.ts';
import type { Connector } from '../connectors/connector.ts';
import type { RequestDeclaration } from '../connectors/declaration.ts';
import type { SourceEntry } from './sources-file.ts';

/** A connector as an operator chooses it. */
export interface KnownNetwork {
  name: string;
  /** One line: what it lists, and what it needs. */
  about: string;
  /** Names of the secrets that it needs. */
  secrets: readonly string[];
  /** Where the network shows a secret. */
  secretHints: Readonly<Record<string, string>>;
}

/** Lists all connectors. */
export function knownNetworks(): KnownNetwork[] {
  return connectorNames.flatMap((name) => {
    const connector = connectorNamed(name);
    if (connector === undefined) return [];
    const { secrets, secretHints = {} } = connector;
    return [{ name, about: aboutOf(connector), secrets, secretHints }];
  });
}

function aboutOf({ note, offers, conversions, secrets, baseUrl }: Connector): string {
  const lists = [offers && 'offers', conversions && 'conversions'].filter((list) => list !== undefined);
  const parts = [
    note?.split(/\.(?:\s|$)/, 1)[0] ?? lists.join(' and '),
    secrets.length === 0 ? '' : `takes ${secrets.join(', ')}`,
    baseUrl === undefined && secrets.length > 0 ? 'each customer has an address' : '',
  ];
  return parts.filter((part) => part !== '').join('; ');
}

/** Placeholders that a pull fills by itself. */
const ownPlaceholders = new Set(['page', 'size', 'cursor', 'token', 'from', 'to', 'campaign']);

/** Returns the names of the secrets that the declared lists of a source ask with. */
export function secretsNamedBy({ offers, conversions }: Pick<SourceEntry, 'offers' | 'conversions'>): string[] {
  const requests: (Partial<RequestDeclaration> | undefined)[] = [
    offers,
    offers?.token,
    offers?.links,
    offers?.links?.token,
    conversions,
    conversions?.token,
  ];
  const names = requests.flatMap(({ path, query, headers, form, body, basic = [] } = {}) => [
    ...basic,
    ...textsIn([path, query, headers, form, body]).flatMap(placeholdersIn),
  ]);
  return [...new Set(names)].filter((name) => !ownPlaceholders.has(name));
}

/** A brace behind a backslash is one that is meant. */
function placeholdersIn(text: string): string[] {
  return Array.from(text.matchAll(/\\\{|\{(\w+)\}/g), ([, name]) => name).filter((name) => name !== undefined);
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap((each) => textsIn(each)) : [];
}
