import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { documentedProgram } from '../src/cli/reference/commands-page.ts';
import { parseSettings, type Settings } from '../src/kit/config/settings.ts';
import { packageFile, packageVersion } from '../src/kit/files/package-files.ts';

const commands = (await documentedProgram()).commands.map((command) => command.name());
const textsIn = (folder: string) =>
  readdirSync(packageFile(folder)).map(
    (name) => [name, readFileSync(packageFile(`${folder}/${name}`), 'utf8')] as const,
  );

describe('units of systemd', () => {
  const units = textsIn('data/deploy/systemd');
  const folder = mkdtempSync(join(tmpdir(), 'offerline-units-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const lines = (text: string, key: string) =>
    [...text.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value]) => value);

  it('there is one for each process', () => {
    expect(units.map(([name]) => name)).toEqual(
      ['console', 'schedule', 'serve', 'track'].map((command) => `offerline-${command}.service`),
    );
  });

  it.each(units)(
    '%s starts a command, as a user of its own, again where it ends but for wrong configuration',
    (name, text) => {
      const [start = ''] = lines(text, 'ExecStart');
      const [program, command = '', ...others] = start.split(' ');
      expect([program, others]).toEqual(['/opt/offerline/node_modules/.bin/offerline', []]);
      expect(name).toBe(`offerline-${command}.service`);
      expect(commands).toContain(command);
      expect({
        user: lines(text, 'User'),
        restart: lines(text, 'Restart'),
        except: lines(text, 'RestartPreventExitStatus'),
      }).toEqual({
        user: ['offerline'],
        restart: ['always'],
        except: ['2'],
      });
      expect(Number(lines(text, 'TimeoutStopSec')[0])).toBeGreaterThanOrEqual(30);
    },
  );

  it('differ in nothing else, so none has fewer bounds', () => {
    const common = units.map(([, text]) =>
      text
        .split('\n')
        .filter((line) => /^[A-Z]\w*=/.test(line) && !/^(?:Description|ExecStart|TimeoutStopSec)=/.test(line)),
    );
    expect(new Set(common.map((each) => each.join('\n'))).size).toBe(1);
    expect(common[0]).toEqual(
      expect.arrayContaining([
        'NoNewPrivileges=true',
        'ProtectSystem=strict',
        'ProtectHome=true',
        'CapabilityBoundingSet=',
      ]),
    );
  });

  const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
  it.runIf(hasSystemd)('systemd knows every line of them', () => {
    const files = units.map(([name, text]) => {
      const file = join(folder, name);
      // The package is not installed here.
      writeFileSync(file, text.replace(/^ExecStart=\S+/m, 'ExecStart=/bin/true'));
      return file;
    });
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...files], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});

/** The fields that our manifests use, out of the API reference of Kubernetes 1.30: any other one is a slip of the pen. */
type Shape = { [field: string]: Shape } | readonly [Shape] | 'any' | 'map';
const metadata: Shape = { name: 'any', labels: 'map' };
const probe: Shape = {
  httpGet: { path: 'any', port: 'any' },
  initialDelaySeconds: 'any',
  periodSeconds: 'any',
  failureThreshold: 'any',
};
const pod: Shape = {
  metadata: { labels: 'map' },
  spec: {
    automountServiceAccountToken: 'any',
    shareProcessNamespace: 'any',
    terminationGracePeriodSeconds: 'any',
    securityContext: {
      runAsNonRoot: 'any',
      runAsUser: 'any',
      runAsGroup: 'any',
      fsGroup: 'any',
      fsGroupChangePolicy: 'any',
      seccompProfile: { type: 'any' },
    },
    containers: [
      {
        name: 'any',
        image: 'any',
        args: 'any',
        ports: [{ name: 'any', containerPort: 'any' }],
        livenessProbe: probe,
        readinessProbe: probe,
        resources: { requests: { cpu: 'any', memory: 'any' }, limits: { memory: 'any' } },
        securityContext: {
          allowPrivilegeEscalation: 'any',
          readOnlyRootFilesystem: 'any',
          capabilities: { drop: 'any' },
        },
        volumeMounts: [{ name: 'any', mountPath: 'any', subPath: 'any', readOnly: 'any' }],
      },
    ],
    volumes: [
      { name: 'any', configMap: { name: 'any' }, secret: { secretName: 'any', defaultMode: 'any' }, emptyDir: 'map' },
    ],
  },
};
const kinds: Record<string, { apiVersion: string; shape: Shape; required: string[] }> = {
  ConfigMap: { apiVersion: 'v1', shape: { data: 'map' }, required: ['data'] },
  Secret: { apiVersion: 'v1', shape: { type: 'any', stringData: 'map' }, required: ['stringData'] },
  Service: {
    apiVersion: 'v1',
    shape: { spec: { selector: 'map', ports: [{ name: 'any', port: 'any', targetPort: 'any' }] } },
    required: ['spec'],
  },
  Deployment: {
    apiVersion: 'apps/v1',
    shape: {
      spec: {
        replicas: 'any',
        selector: { matchLabels: 'map' },
        strategy: { rollingUpdate: { maxUnavailable: 'any', maxSurge: 'any' } },
        template: pod,
      },
    },
    required: ['spec'],
  },
  StatefulSet: {
    apiVersion: 'apps/v1',
    shape: {
      spec: {
        replicas: 'any',
        serviceName: 'any',
        selector: { matchLabels: 'map' },
        template: pod,
        volumeClaimTemplates: [{ metadata, spec: { accessModes: 'any', resources: { requests: { storage: 'any' } } } }],
      },
    },
    required: ['spec'],
  },
};

/** Fields of a value that its shape does not have, by their paths. */
function strangeFields(value: unknown, shape: Shape, path: string): string[] {
  if (shape === 'any') return [];
  if (Array.isArray(shape)) {
    if (!Array.isArray(value)) return [`${path} is no list`];
    return value.flatMap((each, index) => strangeFields(each, shape[0] as Shape, `${path}[${index}]`));
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${path} is no object`];
  if (shape === 'map') return [];
  return Object.entries(value).flatMap(([field, each]) => {
    const expected = (shape as Record<string, Shape>)[field];
    return expected === undefined ? [`${path}.${field}`] : strangeFields(each, expected, `${path}.${field}`);
  });
}

interface Container {
  name: string;
  image: string;
  args: string[];
  ports?: { name: string; containerPort: number }[];
  livenessProbe?: { httpGet: { path: string; port: string } };
  readinessProbe?: { httpGet: { path: string; port: string } };
  resources: { limits?: { memory?: string } };
  securityContext: object;
  volumeMounts: { name: string; mountPath: string; subPath?: string }[];
}
interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  stringData?: Record<string, string>;
  spec?: {
    selector: Record<string, unknown>;
    serviceName?: string;
    ports?: { targetPort: string }[];
    template?: {
      metadata: { labels: Record<string, string> };
      spec: {
        securityContext: object;
        containers: Container[];
        volumes: { name: string; configMap?: { name: string }; secret?: { secretName: string } }[];
      };
    };
    volumeClaimTemplates?: { metadata: { name: string } }[];
  };
}

describe('manifests of Kubernetes', () => {
  const documents = textsIn('data/deploy/kubernetes').flatMap(([file, text]) =>
    parseAllDocuments(text).map((document): [string, Manifest] => {
      const manifest = document.toJS() as Manifest;
      return [`${file}: ${manifest.kind} ${manifest.metadata.name}`, manifest];
    }),
  );
  const ofKind = (...names: string[]) => documents.filter(([, { kind }]) => names.includes(kind));
  const workloads = ofKind('Deployment', 'StatefulSet');
  const podOf = ({ spec }: Manifest) => spec?.template as NonNullable<NonNullable<Manifest['spec']>['template']>;
  const settingsOf = (name: string): Settings =>
    parseSettings(ofKind('ConfigMap')[0]?.[1].data?.[name] ?? '', `data/deploy/kubernetes/configuration.yaml: ${name}`);

  it.each(documents)('%s has the fields of its kind and no others', (name, manifest) => {
    const { apiVersion, shape, required } = kinds[manifest.kind] as (typeof kinds)[string];
    expect(manifest.apiVersion).toBe(apiVersion);
    expect(Object.keys(manifest)).toEqual(expect.arrayContaining(['metadata', ...required]));
    expect(strangeFields(manifest, { apiVersion: 'any', kind: 'any', metadata, ...(shape as object) }, name)).toEqual(
      [],
    );
  });

  it.each(workloads)('%s runs commands of this version, bounded and without rights', (_name, manifest) => {
    const { containers, securityContext } = podOf(manifest).spec;
    expect(securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    for (const { image, args, resources, securityContext: own } of containers) {
      expect(image).toBe(`offerline:${packageVersion()}`);
      expect(commands).toEqual(expect.arrayContaining(args));
      expect(resources.limits?.memory).toMatch(/^\d+Gi$/);
      expect(own).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
  });

  it.each(workloads)('%s mounts what there is, and selects its own pods', (_name, manifest) => {
    const { metadata: about, spec } = podOf(manifest);
    expect(manifest.spec?.selector).toEqual({ matchLabels: about.labels });
    const claims = manifest.spec?.volumeClaimTemplates?.map(({ metadata: { name } }) => name) ?? [];
    const volumes = new Map(spec.volumes.map((volume) => [volume.name, volume]));
    const filesOf = (name: string) => {
      const { configMap, secret } = volumes.get(name) ?? {};
      const found = documents.find(
        ([
          ,
          {
            metadata: { name: other },
          },
        ]) => other === (configMap?.name ?? secret?.secretName),
      );
      if (configMap !== undefined) return Object.keys(found?.[1].data ?? {});
      return Object.keys(
        ofKind('Secret').find(
          ([
            ,
            {
              metadata: { name: other },
            },
          ]) => other === secret?.secretName,
        )?.[1].stringData ?? {},
      );
    };
    const mounts = spec.containers.flatMap(({ volumeMounts }) => volumeMounts);
    expect(mounts.filter(({ name }) => !volumes.has(name) && !claims.includes(name))).toEqual([]);
    expect(mounts.filter(({ name, subPath }) => subPath !== undefined && !filesOf(name).includes(subPath))).toEqual([]);
  });

  it.each(workloads)('%s has probes where its settings listen, and secrets that they name', (_name, manifest) => {
    const { containers } = podOf(manifest).spec;
    const secrets = Object.keys(ofKind('Secret')[0]?.[1].stringData ?? {});
    for (const { args, ports, livenessProbe, readinessProbe, volumeMounts } of containers) {
      const file = volumeMounts.find(({ mountPath }) => mountPath === '/data/offerline.json')?.subPath ?? '';
      const settings = settingsOf(file);
      const port = args[0] ?? '';
      const listening = { serve: settings, track: settings.tracker }[port];
      const probed = (path: string) => (listening === undefined ? undefined : { path, port });
      // Of a schedule only its figures can be asked for. The console listens on the pod's loopback.
      const portName = port === 'schedule' ? 'metrics' : port;
      const open = port === 'schedule' ? settings.metrics : listening;
      expect([open?.host, ports]).toEqual(
        open === undefined ? [undefined, undefined] : ['0.0.0.0', [{ name: portName, containerPort: open.port }]],
      );
      // A snapshot that is old, on all services alike, must not take them all away.
      const ready = probed(port === 'serve' ? '/servez' : '/readyz');
      expect([livenessProbe?.httpGet, readinessProbe?.httpGet]).toEqual([probed('/healthz'), ready]);
      const named = [...JSON.stringify(settings.storage).matchAll(/"file":"\/secrets\/([^"]+)"/g)];
      expect(secrets).toEqual(expect.arrayContaining(named.map(([, name]) => name)));
      expect(named).toHaveLength(2);
    }
  });

  it('services lead to ports of pods', () => {
    for (const [, { spec }] of ofKind('Service')) {
      const target = workloads.find(
        ([, each]) => JSON.stringify(podOf(each).metadata.labels) === JSON.stringify(spec?.selector),
      );
      const ports =
        target && podOf(target[1]).spec.containers.flatMap(({ ports: open = [] }) => open.map(({ name }) => name));
      expect(ports).toEqual(expect.arrayContaining(spec?.ports?.map(({ targetPort }) => targetPort) ?? ['none']));
    }
    expect(ofKind('StatefulSet')[0]?.[1].spec?.serviceName).toBe('offerline-track');
  });

  it('a field that is misspelled is found', () => {
    expect(strangeFields({ spec: { replica: 1 } }, kinds['Deployment']?.shape ?? 'any', 'it')).toEqual([
      'it.spec.replica',
    ]);
  });
});
