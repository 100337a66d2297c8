import { createHmac, timingSafeEqual } from 'node:crypto';
import type { SiteRegistry } from '../../kit/http/site-registry.ts';
import { hour } from '../../kit/http/sliding-windows.ts';
import type { Site } from '../../kit/sites/sites.ts';

const cookieName = 'offerline_portal';
/** Milliseconds for which a sign-in holds. */
const sessionLength = 12 * hour;

/**
 * Cookie of a site that has shown its secret: key, end and a signature by that secret. Nothing is kept of it here, so
 * that any server knows it; it ends with the site's secret, with its approval, and by itself.
 */
export function sessionCookie(site: Site, now: number, isSecure: boolean): string {
  const claim = `${Buffer.from(site.site_key).toString('base64url')}.${now + sessionLength}`;
  return cookie(`${claim}.${sealOf(site, claim)}`, sessionLength / 1000, isSecure);
}

/** Cookie that takes the place of a session's and ends at once. */
export function noSessionCookie(isSecure: boolean): string {
  return cookie('', 0, isSecure);
}

/** The site that a request's cookies are signed in as; undefined where there is none, or none any more. */
export function signedInSite(sites: SiteRegistry, cookies: string | undefined, now: number): Site | undefined {
  const value = cookies
    ?.split(/; */)
    .find((each) => each.startsWith(`${cookieName}=`))
    ?.slice(cookieName.length + 1);
  const [, claim = '', key = '', end = '', seal = ''] = /^(([\w-]+)\.(\d{1,16}))\.([\w-]{43})$/.exec(value ?? '') ?? [];
  const site = sites.named(Buffer.from(key, 'base64url').toString());
  if (site?.status !== 'active') return undefined;
  const left = Number(end) - now;
  const isSealed = timingSafeEqual(Buffer.from(seal), Buffer.from(sealOf(site, claim)));
  return isSealed && left > 0 && left <= sessionLength ? site : undefined;
}

/** No postback's signed text begins like this one. */
function sealOf(site: Site, claim: string): string {
  return createHmac('sha256', site.site_secret).update(`offerline portal\n${claim}`).digest('base64url');
}

function cookie(value: string, seconds: number, isSecure: boolean): string {
  return `${cookieName}=${value}; Path=/portal; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
}
