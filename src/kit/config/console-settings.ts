import { z } from 'zod';

const absolutePath = z.string().startsWith('/', 'is not an absolute path').meta({ takes: 'absolute path' });

/** Lower-cased, as Node gives the names of a request's headers. */
const headerName = z
  .string()
  .regex(/^[A-Za-z\d-]{1,64}$/, { error: 'is not the name of a header such as X-Forwarded-User' })
  .transform((name) => name.toLowerCase());

/** The console's listener, the names that it answers to, and who says who asks. */
export const consoleSchema = z.strictObject({
  host: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe(
      'Address that the console listens on; elsewhere than on loopback only with users, and `tls` or `trusted_proxies`',
    ),
  port: z.int().min(0).max(65535).default(8081).describe('Port that the console listens on'),
  public_url: z
    .url({ protocol: /^https?$/ })
    .refine((url) => URL.canParse(url) && url.toLowerCase().replace(/\/$/, '') === new URL(url).origin, {
      error: 'is not an address without a path, such as https://console.example',
    })
    .optional()
    .meta({
      absent: 'the listening address',
      description: 'Address that people type where that is not the listener’s, as behind a proxy',
    }),
  hosts: z
    .array(
      z
        .string()
        .regex(/^(\[[\da-f:.]+\]|[a-z\d._-]+)(:\d{1,5})?$/i, {
          error: 'is not a name such as console.example or console.example:8443',
        })
        .transform((name) => name.toLowerCase()),
    )
    .prefault([])
    .describe('Further names that it answers to, each for the listener’s own port unless it brings one'),
  tls: z
    .strictObject({
      key: absolutePath.describe('PEM file of the key'),
      cert: absolutePath.describe('PEM file of the certificate'),
    })
    .optional()
    .meta({ absent: 'plain HTTP', description: 'Key and certificate of its own, for HTTPS' }),
  proxy_header: z
    .strictObject({
      user: headerName.describe('Header that names the user'),
      role: headerName.optional().meta({
        absent: 'the role that `console add` gave that user',
        description: 'Header that names the role: `viewer`, `analyst` or `operator`',
      }),
    })
    .optional()
    .meta({
      absent: 'users sign in by their tokens',
      description:
        'Headers in which a proxy of `trusted_proxies` says who asks; it has to remove them from what it is sent',
    }),
});

export type ConsoleSettings = z.output<typeof consoleSchema>;
