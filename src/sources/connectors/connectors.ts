import { adgem, adgemLegacy } from './adgem.ts';
import { affise } from './affise.ts';
import { ayet } from './ayet.ts';
import { cake } from './cake.ts';
import type { Connector } from './connector.ts';
import { everflow } from './everflow.ts';
import { ogads } from './ogads.ts';
import { tune } from './tune.ts';

/** The networks that offerline knows. `http` is one that `sources.json` declares itself, `s3` is storage and none. */
export const connectors: Readonly<Record<string, Connector>> = {
  tune,
  everflow,
  cake,
  affise,
  adgem,
  adgem_legacy: adgemLegacy,
  ayet,
  ogads,
  http: { name: 'http', secrets: [] },
  s3: { name: 's3', secrets: [] },
};
export const connectorNames = Object.keys(connectors) as [string, ...string[]];
