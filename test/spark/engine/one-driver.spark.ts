import { afterAll } from 'vitest';
import { engineContract } from '../../pipeline/ingest/engine/contract.ts';
import { tryLandingFuzz } from './landing-fuzz.ts';
import { tryLogsOfAnAdTracker } from './logs-of-an-ad-tracker.ts';
import { trySharedFolder } from './shared-folder.ts';
import { SharedDriver } from './shared-driver.ts';

// To start a driver takes longer than most of these tests.
const shared = await SharedDriver.start();
afterAll(() => shared[Symbol.asyncDispose]());

engineContract('spark', shared.engine, 3);
trySharedFolder(shared);
tryLogsOfAnAdTracker(shared);
tryLandingFuzz(shared);
