import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { describeIssue } from '../../kit/config/describe-issue.ts';
import { describeProblems } from '../../kit/config/json-document.ts';
import { packageFile } from '../../kit/files/package-files.ts';
import { conversionsSchema, declarationMistakes, offersSchema } from '../config/declared-lists.ts';
import { networkAddress } from './declaration.ts';

/**
 * A network as a file of data: what an operator would write of it in `sources.json` with connector `http`. `secrets`
 * has the names of its secrets, each with where the network shows it.
 */
const networkSchema = z
  .strictObject({
    note: z.string().min(1),
    base_url: networkAddress.optional(),
    secrets: z.record(z.string().regex(/^\w+$/), z.string().min(1)),
    offers: offersSchema.optional(),
    conversions: conversionsSchema.optional(),
  })
  .superRefine((network, context) => {
    for (const { path, message } of declarationMistakes({ ...network, connector: 'http' }))
      context.addIssue({ code: 'custom', path, message });
  });
export type DeclaredNetwork = z.output<typeof networkSchema>;

const folder = packageFile('src/sources/connectors/networks');

/** Names of the networks in `networks/`, which are those of their files. */
export const declaredNetworkNames: readonly string[] = readdirSync(folder)
  .toSorted()
  .map((file) => basename(file, '.json'));

const known = new Map<string, DeclaredNetwork>();

/**
 * Returns a network that has a file; undefined for any other connector. A file is read when its network is first asked
 * for: to check them all at the start of a process takes longer than most commands.
 */
export function declaredNetwork(name: string | undefined): DeclaredNetwork | undefined {
  if (name === undefined || !declaredNetworkNames.includes(name)) return undefined;
  const network = known.get(name) ?? readNetwork(name);
  known.set(name, network);
  return network;
}

/** Returns the lists of a network that has a file; none of any other connector. */
export function listsOfNetwork(connector: string | undefined): Pick<DeclaredNetwork, 'offers' | 'conversions'> {
  const { offers, conversions } = declaredNetwork(connector) ?? {};
  return { ...(offers && { offers }), ...(conversions && { conversions }) };
}

function readNetwork(name: string): DeclaredNetwork {
  const file = `${name}.json`;
  const read = networkSchema.safeParse(JSON.parse(readFileSync(join(folder, file), 'utf8')), { error: describeIssue });
  if (!read.success) throw new Error(`networks/${file} cannot be used:\n${describeProblems(read.error)}`);
  return read.data;
}
