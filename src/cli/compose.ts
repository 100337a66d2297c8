import type { OpenSharedLimits } from '../serve/service.ts';

/*
 * What of `fleet` the settings may name, for those who hand it in: loaded where they do, and nowhere else.
 */

export const openSharedLimits: OpenSharedLimits = async (options) => {
  const { SharedLimits } = await import('../fleet/shared-limits/shared-limits.ts');
  return SharedLimits.open(options);
};
