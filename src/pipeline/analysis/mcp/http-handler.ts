import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server';
import { mcpServers, type McpOptions } from './mcp-server.ts';

/** Answers each message over HTTP by a server of its own. Who may ask is for the caller to check. */
export function openMcpHandler(options: McpOptions): McpHttpHandler {
  return createMcpHandler(mcpServers(options), {
    onerror: (error) =>
      options.log.warn({ err: error }, 'a message of an assistant cannot be answered; it was refused'),
  });
}
