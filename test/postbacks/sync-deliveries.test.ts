import { describeSync } from './every-store/sync.ts';

describeSync(async () => ({ postbacks: {} }));
