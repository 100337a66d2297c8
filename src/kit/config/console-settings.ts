import { z } from 'zod';

const absolutePath = z.string().startsWith('/', 'is not an absolute path');

/** As requests have it: Node gives the names of headers in lower case. */
const headerName = z
  .string()
  .regex(/^[A-Za-z\d-]{1,64}$/, { error: 'is not the name of a header such as X-Forwarded-User' })
  .transform((name) => name.toLowerCase());

/** Where the console listens, under which names it answers, and who says who asks. */
export const consoleSchema = z.strictObject({
  host: z.string().min(1).default('127.0.0.1'),
  port: z.int().min(0).max(65535).default(8081),
  /** The address that people type, where that is not the listener's: behind a proxy, above all. */
  public_url: z
    .url({ protocol: /^https?$/ })
    .refine((url) => URL.canParse(url) && url.toLowerCase().replace(/\/$/, '') === new URL(url).origin, {
      error: 'is not an address without a path, such as https://console.example',
    })
    .optional(),
  /** Further names, each for the listener's own port unless it brings one. */
  hosts: z
    .array(
      z
        .string()
        .regex(/^(\[[\da-f:.]+\]|[a-z\d._-]+)(:\d{1,5})?$/i, {
          error: 'is not a name such as console.example or console.example:8443',
        })
        .transform((name) => name.toLowerCase()),
    )
    .default([]),
  /** PEM files. */
  tls: z.strictObject({ key: absolutePath, cert: absolutePath }).optional(),
  /**
   * Headers in which a proxy tells who asks, and perhaps in which role. Believed from `trusted_proxies` only. Without
   * `role` the name must be one that `console add` made.
   */
  proxy_header: z.strictObject({ user: headerName, role: headerName.optional() }).optional(),
});

export type ConsoleSettings = z.output<typeof consoleSchema>;
