import type { MetricName, Metrics } from '../../kit/metrics/metrics.ts';
import type { Manifest } from '../../pipeline/snapshot/manifest.ts';

/** Postbacks of a snapshot, as the run that built it found them. */
interface DeliveringSnapshot {
  deliveries: Manifest['deliveries'];
  asOf: string;
}
type SiteDeliveries = DeliveringSnapshot['deliveries']['sites'][number];

/** Measures postbacks as of the snapshot that is served. */
export function measureDeliveries(metrics: Metrics, snapshot: () => DeliveringSnapshot | undefined): void {
  metrics.gaugeOf(
    snapshot,
    'offerline_postbacks_pending',
    'Postbacks that wait for an attempt, as of the snapshot.',
    ({ deliveries }) => deliveries.pending,
  );
  metrics.gaugeOf(
    snapshot,
    'offerline_postbacks_delivered',
    'Postbacks that their sites have taken, as of the snapshot.',
    ({ deliveries }) => deliveries.delivered,
  );
  metrics.gaugeOf(
    snapshot,
    'offerline_postbacks_dead',
    'Postbacks that nothing more is tried for until somebody revives them, as of the snapshot.',
    ({ deliveries }) => deliveries.dead,
  );
  metrics.gaugeOf(
    snapshot,
    'offerline_postback_attempts',
    'Attempts at delivering postbacks, as of the snapshot.',
    ({ deliveries }) => deliveries.attempts,
  );
  metrics.gaugeOf(
    snapshot,
    'offerline_postback_attempts_failed',
    'Attempts that failed, as of the snapshot.',
    ({ deliveries }) => deliveries.failed_attempts,
  );
  metrics.gaugeOf(
    snapshot,
    'offerline_postbacks_oldest_pending_seconds',
    'How long the oldest pending postback had waited at the as-of of the snapshot.',
    ({ deliveries, asOf }) => secondsSince(deliveries.oldest_pending_at, asOf),
  );
  metrics.gaugeOf(
    snapshot,
    'offerline_postbacks_lag_seconds_p95',
    'From writing a postback to its delivery, 95th percentile of the last 24 hours of deliveries.',
    ({ deliveries }) => deliveries.lag_seconds_p95,
  );
}

/** Measures the same by site, under its key: for the one who runs the service alone. */
export function measureSites(metrics: Metrics, snapshot: () => DeliveringSnapshot | undefined): void {
  const bySite = (name: MetricName, help: string, read: (site: SiteDeliveries, asOf: string) => number) =>
    metrics.gauges(name, `${help}, as of the snapshot; of the hundred sites that wait for longest.`, ['site'], () => {
      const { deliveries, asOf } = snapshot() ?? { deliveries: { sites: [] }, asOf: '' };
      return deliveries.sites.map((site) => ({ labels: { site: site.site_key }, value: read(site, asOf) }));
    });
  bySite(
    'offerline_site_postbacks_waiting',
    'Postbacks of each site that wait for an attempt',
    ({ waiting }) => waiting,
  );
  bySite('offerline_site_postbacks_failing', 'Those of them whose last attempt failed', ({ failing }) => failing);
  bySite('offerline_site_postbacks_dead', 'Postbacks of each site that were given up', ({ dead }) => dead);
  bySite(
    'offerline_site_postbacks_oldest_waiting_seconds',
    'How long the oldest waiting postback of each site had waited',
    ({ oldest_waiting_at: since }, asOf) => secondsSince(since, asOf),
  );
}

function secondsSince(since: string | null, asOf: string): number {
  return since === null ? 0 : Math.max(0, (Date.parse(asOf) - Date.parse(since)) / 1000);
}
