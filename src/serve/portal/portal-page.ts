import type { z } from 'zod';
import type { Html } from '../../kit/html/html.ts';
import type { Moment } from '../../kit/time/moment.ts';
import type { Site } from '../../kit/sites/sites.ts';
import type { Operation } from '../endpoints/operation.ts';

/** What a page of the portal is made of. */
export interface PortalRequest {
  site: Site;
  /** As-of of the snapshot that is shown. */
  asOf: Moment;
  /** Parameters of its address that are not empty. */
  asked: Readonly<Record<string, string>>;
  /**
   * The answer of an operation of the interface to this site, so that a page says what a program hears. Throws
   * `ApiError` as that does.
   */
  ask: <Body extends z.ZodType>(
    operation: Operation,
    body: Body,
    parameters: Readonly<Record<string, string>>,
  ) => Promise<z.output<Body>>;
}

/** A page of the portal for a site that is signed in. */
export interface PortalPage {
  path: string;
  title: string;
  show(request: PortalRequest): Html | Promise<Html>;
}
