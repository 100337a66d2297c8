import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { nodeArguments } from '../support/command-line.ts';

const source = new URL('../../src/tracker/collector.ts', import.meta.url).href;

/** How large the room for new objects grows, at most, where ever more of them live for a while. MiB. */
async function largestRoom(task: string): Promise<number> {
  const program = `
    import { getHeapSpaceStatistics } from 'node:v8';
    import { boundYoungGeneration } from ${JSON.stringify(source)};
    let kept = [];
    let largest = 0;
    for (let made = 0; made < 6_000_000; made++) {
      kept.push({ made, text: String(made) });
      if (kept.length > 200_000) kept = kept.slice(100_000);
      if (made % 1000 > 0) continue;
      ${task};
      const room = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
      largest = Math.max(largest, room.space_size);
    }
    console.log(largest / 2 ** 20);`;
  return Number((await outputOf(program)).stdout);
}

function outputOf(program: string): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)(process.execPath, [...nodeArguments, '--input-type=module', '--eval', program]);
}

it('the room for new objects grows to what helps and no further', async () => {
  const bounded = await largestRoom('boundYoungGeneration()');
  expect(bounded).toBeGreaterThan(20);
  expect(bounded).toBeLessThan(50);
  expect(await largestRoom('')).toBeGreaterThan(bounded);
});

it('V8 still knows what it is told', async () => {
  const program = `
    import { boundYoungGeneration, collectSeldom } from ${JSON.stringify(source)};
    boundYoungGeneration();
    collectSeldom();`;
  // A setting that it does not know is told of here, and ignored.
  expect(await outputOf(program)).toEqual({ stdout: '', stderr: '' });
});
