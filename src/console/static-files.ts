import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { packageFile } from '../kit/files/package-files.ts';
import { baseStyle } from '../kit/html/base-style.ts';
import { requireRole } from './access/access.ts';

const types = { css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' } as const;
const names = ['console.css', 'console.js', 'icon-well.svg', 'icon-attention.svg', 'icon-alarm.svg'] as const;

/** Serves style sheet, script and icons; returns their digest, which is part of their addresses. */
export function serveStaticFiles(server: FastifyInstance): string {
  const digest = createHash('sha256');
  for (const name of names) {
    const own = readFileSync(packageFile(`src/console/static/${name}`));
    const bytes = name === 'console.css' ? Buffer.concat([readFileSync(packageFile(baseStyle)), own]) : own;
    digest.update(bytes);
    const type = types[name.slice(name.lastIndexOf('.') + 1) as keyof typeof types];
    server.get(`/static/${name}`, requireRole('anybody'), (_request, reply) =>
      reply
        .header('content-type', `${type}; charset=utf-8`)
        .header('cache-control', 'private, max-age=31536000, immutable')
        .send(bytes),
    );
  }
  return digest.digest('hex').slice(0, 12);
}
