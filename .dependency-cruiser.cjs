/**
 * What may import what. A context uses itself and those that it names here, and nothing else; `src/README.md` says why.
 * `fleet` is optional: `src/cli/compose.ts` hands it in.
 */
const uses = {
  kit: [],
  sources: ['kit'],
  pictures: ['kit'],
  postbacks: ['kit'],
  pipeline: ['kit', 'sources', 'pictures', 'postbacks'],
  serve: ['kit', 'sources', 'pictures', 'postbacks', 'pipeline'],
  tracker: ['kit', 'sources', 'pipeline'],
  console: ['kit', 'sources', 'postbacks', 'pipeline'],
  fleet: ['kit', 'postbacks', 'pipeline', 'serve'],
  demo: ['kit', 'sources', 'postbacks', 'pipeline', 'tracker'],
};

/**
 * Doors: the rooms (with a slash at the end) and files of a context that other contexts may import; of `kit`, all.
 * `pipelines` compose stages and may reach into any room.
 */
const doors = {
  sources: ['resolve-source', 'pull-ledger', 'offer-export', 'config/', 'conversions/emitted-conversions'],
  pictures: ['feed-pictures', 'mirrored-pictures', 'picture-files', 'picture-index', 'picture-type'],
  postbacks: [
    'open-store',
    'due-postbacks',
    'silent-sites',
    'resend-postback',
    'postgres-deliveries',
    'store/',
    'rules/',
    'http/example-route',
    'http/test-postback',
    'http/signature',
  ],
  pipeline: [
    'analysis/',
    'backup/',
    'clicks/',
    'deliveries/',
    'doctor/',
    'feed/',
    'inspect/',
    'records/',
    'routes/',
    'runs/',
    'snapshot/',
    'status/',
    'ingest/engine/',
    'ingest/ingest-stage',
    'ingest/catalog/catalog-holds',
    'landing/logs/',
    'maintenance/archivable-files',
    'models/report-backfill',
    'models/report-days',
    'recovery/recover-state',
    'sql/figures',
    'sql/model-query',
    'sql/model-rows',
    'warehouse/event-files',
    'warehouse/metadata',
    'warehouse/named-files',
  ],
  serve: ['service', 'service-lock', 'access/limits'],
  tracker: [
    'tracker',
    'tracker-address',
    'tracker-lock',
    'needed-logs',
    'logs/log-names',
    'conversions/planned-reports',
    'conversions/refused-conversions',
    'conversions/replay',
    'conversions/guard/guarded-report',
    'server/standby-server',
    'server/unnamed-proxy',
  ],
  console: ['console', 'access/enter-link', 'access/safe-listener', 'access/users'],
  fleet: [
    'spark/drivers-of-run',
    'storage/accept-pointer',
    'storage/examine-catalog',
    'storage/follow',
    'storage/leased-schedule',
    'storage/writer/run-on-storage',
    'postgres-deliveries/postgres-store',
    'move-deliveries/move-deliveries',
    'shared-limits/shared-limits',
  ],
  demo: [
    'demo-networks',
    'demo-traffic',
    'postback-receiver',
    'generate/generate',
    'generate/network/network',
    'trial/trial',
    'trial/trial-subject',
    'trial/tracker-access',
  ],
};
/** The pattern of a room, or of a file. */
const entrance = (context, name) => `^src/${context}/${name.endsWith('/') ? name : `${name}\\.ts$`}`;

const contexts = Object.entries(uses).map(([context, used]) => ({
  name: `${context}-uses-what-it-may`,
  severity: 'error',
  from: { path: `^src/${context}/` },
  to: { path: '^(?:src|pipelines)/', pathNot: [context, ...used].map((name) => `^src/${name}/`) },
}));

const entered = Object.entries(doors).map(([context, door]) => ({
  name: `${context}-is-entered-by-its-door`,
  severity: 'error',
  from: { path: '^src/', pathNot: `^src/${context}/` },
  to: { path: `^src/${context}/`, pathNot: door.map((name) => entrance(context, name)) },
}));

module.exports = {
  forbidden: [
    ...contexts,
    ...entered,
    {
      name: 'fleet-is-handed-in',
      comment: 'a build without it compiles but for the composition root',
      severity: 'error',
      from: { path: '^(?:src|pipelines)/', pathNot: '^src/fleet/|^src/cli/compose\\.ts$' },
      to: { path: '^src/fleet/' },
    },
    { name: 'no-circle', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'pipelines-use-no-command',
      comment: 'which stages run in which order, for any caller',
      severity: 'error',
      from: { path: '^pipelines/' },
      to: { path: '^src/(?:cli|console|demo)/' },
    },
    {
      name: 'readers-see-snapshots-only',
      comment: 'the service, the tracker, analysts and pages read what is published, never the warehouse',
      severity: 'error',
      from: { path: '^src/(?:serve|tracker|console|pipeline/analysis)/' },
      to: { path: '^src/pipeline/(?:ingest|models|maintenance|recovery)/', reachable: true },
    },
    {
      name: 'packages-of-the-image',
      comment: 'the image has no package that is for development only, and none that nobody declares',
      severity: 'error',
      from: { path: '^(?:src|pipelines)/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'launcher-imports-nothing',
      comment: 'it runs before anything is installed',
      severity: 'error',
      from: { path: '^src/launch\\.mjs$' },
      to: { path: '^(?:src|pipelines|node_modules)/', pathNot: '^src/start-node\\.mjs$' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};
