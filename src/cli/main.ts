import { enableCompileCache } from 'node:module';

// Types are stripped and code is compiled once, not at every start: a third of a small refresh is starting. The import
// has to come after it, so this file does nothing else.
enableCompileCache();
await import('./command-line.ts');
