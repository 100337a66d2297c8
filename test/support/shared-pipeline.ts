import { afterAll } from 'vitest';
import type { PipelineUnderTest } from './pipeline-under-test.ts';

/**
 * A data directory that is made once for all tests of a file. Each call gives it as it was then, whatever was done to
 * it since: one at a time.
 */
export function sharedPipeline(make: () => Promise<PipelineUnderTest>): () => Promise<PipelineUnderTest> {
  let made: ReturnType<typeof begin> | undefined;
  async function begin(): Promise<{ pipeline: PipelineUnderTest; bringBack: () => Promise<void> }> {
    const pipeline = await make();
    return { pipeline, bringBack: await pipeline.keep() };
  }
  afterAll(async () => {
    await (await made)?.pipeline[Symbol.asyncDispose]();
  });
  return async () => {
    const { pipeline, bringBack } = await (made ??= begin());
    await bringBack();
    return pipeline;
  };
}
