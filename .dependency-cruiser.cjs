/**
 * What may import what. A context uses itself and those that it names here, and nothing else; `src/README.md` says why.
 * `fleet` is optional: what stands in it is handed in by the command line and the pipelines.
 */
const uses = {
  kit: [],
  sources: ['kit'],
  pictures: ['kit'],
  postbacks: ['kit'],
  pipeline: ['kit', 'sources', 'pictures', 'postbacks'],
  serve: ['kit', 'sources', 'pictures', 'pipeline'],
  tracker: ['kit', 'sources', 'pipeline'],
  console: ['kit', 'sources', 'postbacks', 'pipeline'],
  fleet: ['kit', 'postbacks', 'pipeline', 'serve'],
  demo: ['kit', 'sources', 'postbacks', 'pipeline', 'tracker'],
};

/** They load what the settings name, until it is handed in: the store in PostgreSQL. */
const untilHandedIn = ['^src/postbacks/open-store\\.ts$'];

const contexts = Object.entries(uses).map(([context, used]) => ({
  name: `${context}-uses-what-it-may`,
  severity: 'error',
  from: { path: `^src/${context}/`, pathNot: untilHandedIn },
  to: { path: '^(?:src|pipelines)/', pathNot: [context, ...used].map((name) => `^src/${name}/`) },
}));

module.exports = {
  forbidden: [
    ...contexts,
    {
      name: 'nothing-more-than-fleet-until-handed-in',
      severity: 'error',
      from: { path: untilHandedIn },
      to: { path: '^src/(?:console|demo|cli|tracker)/|^pipelines/' },
    },
    { name: 'no-circle', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'pipelines-use-no-command',
      comment: 'which stages run in which order, whoever starts them',
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
      name: 'launcher-stands-alone',
      comment: 'it runs before anything is installed',
      severity: 'error',
      from: { path: '^src/launch\\.mjs$' },
      to: { path: '^(?:src|pipelines|node_modules)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};
