import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { mcpServers, type McpOptions } from './mcp-server.ts';

/**
 * Serves the assistant that started this process, on standard input and output, until it closes them or `stop` is
 * aborted.
 */
export async function serveAssistant(options: McpOptions, stop: AbortSignal): Promise<void> {
  const transport = new StdioServerTransport();
  const ended = Promise.withResolvers<void>();
  // A file, such as /dev/null, ends and is never closed.
  process.stdin.once('end', ended.resolve).once('close', ended.resolve);
  stop.addEventListener('abort', () => ended.resolve());
  const served = serveStdio(mcpServers(options), {
    transport,
    onerror: (error) =>
      options.log.warn({ err: error }, 'a message of the assistant cannot be read; it is passed over'),
  });
  await ended.promise;
  await served.close();
}
