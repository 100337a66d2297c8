import { adgem, adgemLegacy } from './adgem.ts';
import { affise } from './affise.ts';
import { ayet } from './ayet.ts';
import { cake } from './cake.ts';
import type { Connector } from './connector.ts';
import { declaredNetworks, type DeclaredNetwork } from './declared-networks.ts';
import { everflow } from './everflow.ts';
import { ogads } from './ogads.ts';
import { tune } from './tune.ts';

/**
 * The networks that offerline knows, by code or by a file of data. `http` is one that `sources.json` declares itself,
 * `s3` is storage and none.
 */
export const connectors: Readonly<Record<string, Connector>> = {
  tune,
  everflow,
  cake,
  affise,
  adgem,
  adgem_legacy: adgemLegacy,
  ayet,
  ogads,
  ...Object.fromEntries(Object.entries(declaredNetworks).map(([name, network]) => [name, connectorOf(name, network)])),
  http: { name: 'http', note: 'another network: a file declares its lists of offers or conversions', secrets: [] },
  s3: { name: 's3', note: 'a bucket of an S3-compatible store: a file says which', secrets: [] },
};
export const connectorNames = Object.keys(connectors) as [string, ...string[]];

/** A declared network's lists come with the source's entry, as those of `http` do. */
function connectorOf(name: string, { note, base_url, secrets }: DeclaredNetwork): Connector {
  const address = base_url === undefined ? {} : { baseUrl: base_url };
  return { name, note, ...address, secrets: Object.keys(secrets), secretHints: secrets };
}
