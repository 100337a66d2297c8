import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** What a click leaves behind is gone with its batch: in more room it is not collected for less. Bytes. */
const enough = 24 * 1024 * 1024;

/**
 * To be called now and then: lets V8 double the room that it makes new objects in only while that is not enough. Left
 * alone it goes on to a hundred MiB, at any time, and whoever watches the tracker's memory would take that for a leak.
 */
export function boundYoungGeneration(): void {
  const size = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0;
  setFlagsFromString(`--semi-space-growth-factor=${size < enough ? 2 : 1}`);
}

/**
 * To be called once: all of the heap is collected again when what lives there has doubled. V8 would wait for 8 MiB,
 * since so little comes to live there. Its other threads are 30 ms at work then, for which clicks wait where there is
 * only one processor.
 */
export function collectSeldom(): void {
  setFlagsFromString('--heap-growing-percent=100');
}
