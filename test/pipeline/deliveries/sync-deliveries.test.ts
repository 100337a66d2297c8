import { describeSync } from '../../postbacks/every-store/sync.ts';

describeSync(async () => ({ postbacks: {} }));
