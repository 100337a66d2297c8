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
  serve: ['kit', 'sources', 'pictures', 'pipeline'],
  tracker: ['kit', 'sources', 'pipeline'],
  console: ['kit', 'sources', 'postbacks', 'pipeline'],
  fleet: ['kit', 'postbacks', 'pipeline', 'serve'],
  demo: ['kit', 'sources', 'postbacks', 'pipeline', 'tracker'],
};

const contexts = Object.entries(uses).map(([context, used]) => ({
  name: `${context}-uses-what-it-may`,
  severity: 'error',
  from: { path: `^src/${context}/` },
  to: { path: '^(?:src|pipelines)/', pathNot: [context, ...used].map((name) => `^src/${name}/`) },
}));

module.exports = {
  forbidden: [
    ...contexts,
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
      name: 'launcher-imports-nothing',
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
