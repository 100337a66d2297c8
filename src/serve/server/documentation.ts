import { readFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { createRequire } from 'node:module';
import { isBundled, packageFile } from '../../kit/files/package-files.ts';
import { snapshotHeaders } from '../http/response.ts';
import type { FixedRoutes } from '../http/response.ts';
import { cacheControl } from '../http/caching.ts';
import { pageBody, PreparedPage } from '../pages/prepared-page.ts';
import { entityTag } from '../../kit/http/entity-tag.ts';

const javaScript = 'text/javascript; charset=utf-8';

/** Files of Swagger UI that are served; its package holds more. */
const swaggerUi: readonly (readonly [name: string, type: string])[] = [
  ['swagger-ui.css', 'text/css; charset=utf-8'],
  ['swagger-ui-bundle.js', javaScript],
  ['favicon-32x32.png', 'image/png'],
];

/** An installed package has copies of these files, and nothing else of that package. */
function swaggerFile(name: string): string {
  if (isBundled) return packageFile(`swagger-ui/${name}`);
  return createRequire(import.meta.url).resolve(`@fastify/swagger-ui/static/${name}`);
}

/**
 * The tables of headers are left out, which would repeat at every status of every operation: the description has them
 * once. Without `validatorUrl` Swagger UI would send the document's address to a service of its makers.
 */
const start = `SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#swagger-ui',
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [() => ({ wrapComponents: { headers: () => () => null } })],
  layout: 'BaseLayout',
  validatorUrl: null,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
});
`;

/** The page, with relative addresses, so that it also works behind a proxy that puts a path before ours. */
const pageIn = (folder: string) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Publisher offers interface</title>
<link rel="stylesheet" href="${folder}/swagger-ui.css">
<link rel="icon" href="${folder}/favicon-32x32.png">
<div id="swagger-ui"></div>
<script src="${folder}/swagger-ui-bundle.js"></script>
<script src="${folder}/start.js"></script>
</html>
`;

/** Policy of the page: only our own files and answers; `data:` is for the icons within the style sheet. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * The interactive page over `/openapi.json` and its files, by path, on the bare host only. The files lie in a folder
 * named after their content: a new version has new addresses, so clients may keep the old ones for ever.
 */
export async function documentation(): Promise<FixedRoutes> {
  const files = await Promise.all(
    swaggerUi.map(async ([name, type]) => ({
      name,
      type,
      body: await readFile(swaggerFile(name)),
    })),
  );
  files.push({ name: 'start.js', type: javaScript, body: Buffer.from(start) });
  const version = entityTag(Buffer.concat(files.map(({ body }) => body)));
  const html = Buffer.from(pageIn(`docs/${version}`));
  const pages = new Map([
    [
      '/docs',
      new PreparedPage(
        {
          ...headersOf('text/html; charset=utf-8', cacheControl.page),
          'content-security-policy': contentSecurityPolicy,
        },
        pageBody(html),
      ),
    ],
  ]);
  for (const { name, type, body } of files)
    pages.set(`/docs/${version}/${name}`, new PreparedPage(headersOf(type, cacheControl.versioned), pageBody(body)));
  return new Map([...pages].map(([path, page]) => [path, (request: IncomingHttpHeaders) => page.respond(request)]));
}

function headersOf(type: string, keeping: string): Readonly<Record<string, string>> {
  return {
    ...snapshotHeaders(undefined),
    'content-type': type,
    'x-content-type-options': 'nosniff',
    'cache-control': keeping,
  };
}
