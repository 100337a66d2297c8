import { createHmac, timingSafeEqual } from 'node:crypto';
import type { SiteRegistry } from '../../kit/http/site-registry.ts';
import { hour } from '../../kit/http/sliding-windows.ts';
import type { Site } from '../../kit/sites/sites.ts';
import type { LimitRule } from '../access/limits.ts';

const cookieName = 'offerline_portal';
/** Milliseconds for which a sign-in holds. */
const sessionLength = 12 * hour;

/** A sign-in that still holds by itself: its site, and what it says, which is the same for all copies of its cookie. */
export interface PortalSession {
  site: Site;
  claim: string;
}

/**
 * Cookie of a site that has shown its secret: key, end and a signature by that secret. Nothing is kept of it here, so
 * that any server knows it; it ends with the site's secret, with its approval, by itself, and with a sign-out.
 */
export function sessionCookie(site: Site, now: number, isSecure: boolean): string {
  const claim = `${Buffer.from(site.site_key).toString('base64url')}.${now + sessionLength}`;
  return cookie(`${claim}.${sealOf(site, claim)}`, sessionLength / 1000, isSecure);
}

/** Cookie that takes the place of a session's and ends at once. */
export function noSessionCookie(isSecure: boolean): string {
  return cookie('', 0, isSecure);
}

/** The session that a request's cookies name; undefined where there is none, or none any more. */
export function sessionOf(sites: SiteRegistry, cookies: string | undefined, now: number): PortalSession | undefined {
  const value = cookies
    ?.split(/; */)
    .find((each) => each.startsWith(`${cookieName}=`))
    ?.slice(cookieName.length + 1);
  const [, claim = '', key = '', end = '', seal = ''] = /^(([\w-]+)\.(\d{1,16}))\.([\w-]{43})$/.exec(value ?? '') ?? [];
  const site = sites.named(Buffer.from(key, 'base64url').toString());
  if (site?.status !== 'active') return undefined;
  const left = Number(end) - now;
  const isSealed = timingSafeEqual(Buffer.from(seal), Buffer.from(sealOf(site, claim)));
  return isSealed && left > 0 && left <= sessionLength ? { site, claim } : undefined;
}

/**
 * Sign-outs of a session, which are counted as requests are: so they outlive a restart, and hold on all servers that
 * share their limits. One is enough to end it; there is room for one of each server that counts by itself.
 */
export function signOutsOf({ claim }: PortalSession): LimitRule {
  return {
    scope: 'address',
    counted: true,
    bucket: () => ({ name: `portal sign-out ${claim}`, limit: 100, length: sessionLength }),
  };
}

/** No postback's signed text begins like this one. */
function sealOf(site: Site, claim: string): string {
  return createHmac('sha256', site.site_secret).update(`offerline portal\n${claim}`).digest('base64url');
}

function cookie(value: string, seconds: number, isSecure: boolean): string {
  return `${cookieName}=${value}; Path=/portal; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
}
