import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { z } from 'zod';
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

/**
 * The networks in `networks/`, by the names of their files. A connector of that name in `sources.json` is
 * the network's declaration.
 */
export const declaredNetworks: Readonly<Record<string, DeclaredNetwork>> = readNetworks(
  new URL('networks/', import.meta.url),
);

/** Returns the lists of a network that has a file; none of any other connector. */
export function listsOfNetwork(connector: string | undefined): Pick<DeclaredNetwork, 'offers' | 'conversions'> {
  const { offers, conversions } = declaredNetworks[connector ?? ''] ?? {};
  return { ...(offers && { offers }), ...(conversions && { conversions }) };
}

function readNetworks(folder: URL): Record<string, DeclaredNetwork> {
  return Object.fromEntries(
    readdirSync(folder)
      .toSorted()
      .map((file) => {
        const read = networkSchema.safeParse(JSON.parse(readFileSync(new URL(file, folder), 'utf8')));
        if (!read.success) throw new Error(`networks/${file} cannot be used:\n${z.prettifyError(read.error)}`);
        return [basename(file, '.json'), read.data];
      }),
  );
}
