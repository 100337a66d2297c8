import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { repository } from './dockerfile.ts';

interface Mount {
  source: string;
  target: string;
}

export interface Service {
  image: string;
  build?: string;
  user?: string;
  entrypoint?: string[];
  command?: string[];
  read_only?: boolean;
  restart?: string;
  cap_drop?: string[];
  cap_add?: string[];
  security_opt?: string[];
  tmpfs?: string[];
  ports?: string[];
  volumes?: string[];
  networks: string[] | Record<string, { ipv4_address?: string }>;
  configs?: Mount[];
  secrets?: string[];
  environment?: Record<string, string>;
  healthcheck?: { test?: string[]; disable?: boolean };
  depends_on?: Record<string, { condition: string }>;
}

export interface Compose {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean; ipam?: { config: { subnet: string }[] } } | null>;
  volumes: Record<string, null>;
  configs: Record<string, { file: string }>;
  secrets: Record<string, { file: string }>;
}

/** `compose.yaml`, with what its variables are where the environment has none. */
export function readCompose(): Compose {
  const text = readFileSync(join(repository, 'compose.yaml'), 'utf8');
  const filled = text.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1').replaceAll('$$', '$');
  return parse(filled, { merge: true }) as Compose;
}

export function networksOf({ networks }: Service): string[] {
  return Array.isArray(networks) ? networks : Object.keys(networks);
}
