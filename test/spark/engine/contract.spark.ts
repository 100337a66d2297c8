import { afterAll } from 'vitest';
import { engineContract } from '../../pipeline/ingest/engine/contract.ts';
import { SharedDriver } from './shared-driver.ts';

const shared = await SharedDriver.start();
afterAll(() => shared[Symbol.asyncDispose]());

engineContract('spark', shared.engine, 3);
