import { affise } from './affise.ts';
import type { Connector } from './connector.ts';
import { declaredNetwork, declaredNetworkNames, type DeclaredNetwork } from './declared-networks.ts';
import { everflow } from './everflow.ts';

const inCode: Readonly<Record<string, Connector>> = {
  everflow,
  affise,
};
/** `http` is a network that `sources.json` declares itself, `s3` is storage and none. */
const others: Readonly<Record<string, Connector>> = {
  http: { name: 'http', note: 'another network: a file declares its lists of offers or conversions', secrets: [] },
  s3: { name: 's3', note: 'a bucket of an S3-compatible store: a file says which', secrets: [] },
};

/** Names of the networks that offerline knows, by code or by a file of data, and of what else a source may be. */
export const connectorNames = [
  ...[...Object.keys(inCode), ...declaredNetworkNames].toSorted(),
  ...Object.keys(others),
] as [string, ...string[]];

/** Returns a connector by its name; undefined for a source that is not pulled. */
export function connectorNamed(name: string | undefined): Connector | undefined {
  if (name === undefined) return undefined;
  const network = declaredNetwork(name);
  return network === undefined ? (inCode[name] ?? others[name]) : connectorOf(name, network);
}

/** A declared network's lists come with the source's entry, as those of `http` do. */
function connectorOf(name: string, { note, base_url, secrets }: DeclaredNetwork): Connector {
  const address = base_url === undefined ? {} : { baseUrl: base_url };
  return { name, note, ...address, secrets: Object.keys(secrets), secretHints: secrets };
}
