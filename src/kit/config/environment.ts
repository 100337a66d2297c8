import { z } from 'zod';

/** Environment variables that people set. Those that processes set for their children are not here. */
export const environmentSchema = z.object({
  OFFERLINE_DATA: z.string().default('data/var').meta({
    takes: 'path',
    description: 'Data directory, below the working directory where it is relative; any character but `?`',
  }),
  OFFERLINE_ALLOW_PRIVATE_POSTBACKS: z.literal('1').optional().meta({
    absent: 'public addresses only',
    description:
      'Postbacks and pictures may go to loopback, private and other addresses that are not of the public internet; for tests and private networks',
  }),
  UV_THREADPOOL_SIZE: z.int().optional().meta({
    absent: 'twice the processors, 8 to 64',
    description: 'Threads of Node for files and DuckDB’s queries; the launcher sets it, the image has 16',
  }),
  NODE_COMPILE_CACHE: z.string().optional().meta({
    takes: 'path',
    absent: '`node-compile-cache` among the temporary files',
    description: 'Folder for compiled code, which makes a start a third quicker',
  }),
});
