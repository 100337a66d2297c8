const day = 86_400_000;

/**
 * The instant of a clock face in a zone, both in milliseconds (the clock face as if it were UTC).
 * Where clocks go back and show a time twice, the later one; where they skip it, as far after the skip as it was
 * meant after its start. This is what DuckDB does with the logs.
 */
export function zonedTime(clockFace: number, timeZone: string): number {
  const steady = steadyOffset(Math.floor(clockFace / day), timeZone);
  if (steady !== undefined) return clockFace - steady;
  const before = offsetAt(clockFace - day, timeZone);
  const after = offsetAt(clockFace + day, timeZone);
  const fits = [before, after]
    .map((offset) => ({ offset, instant: clockFace - offset }))
    .filter(({ offset, instant }) => offsetAt(instant, timeZone) === offset);
  return fits.length === 0 ? clockFace - before : Math.max(...fits.map(({ instant }) => instant));
}

/** Offsets of the days that were asked for last, by zone; undefined for a day around which clocks change. */
const steadyOffsets = new Map<string, Map<number, number | undefined>>();
/** Days of ten years: a log has its times in a few, and a catalog in more. */
const maxDays = 3660;

/**
 * The offset of a day, by its number since the epoch, where it is also that of the day before and of the day after.
 * Asking the calendar for each time of a log would cost more than all else that is done with a row.
 */
function steadyOffset(dayNumber: number, timeZone: string): number | undefined {
  let ofZone = steadyOffsets.get(timeZone);
  if (ofZone === undefined) steadyOffsets.set(timeZone, (ofZone = new Map()));
  const known = ofZone.get(dayNumber);
  if (known !== undefined || ofZone.has(dayNumber)) return known;
  const before = offsetAt((dayNumber - 1) * day, timeZone);
  const offset = before === offsetAt((dayNumber + 2) * day, timeZone) ? before : undefined;
  if (ofZone.size >= maxDays) ofZone.clear();
  ofZone.set(dayNumber, offset);
  return offset;
}

/** Milliseconds by which the zone's clocks are ahead of UTC at an instant. */
function offsetAt(instant: number, timeZone: string): number {
  const parts = clockOf(timeZone).formatToParts(instant);
  const part = (type: Intl.DateTimeFormatPartTypes) => Number(parts.find((each) => each.type === type)?.value);
  const year = parts.some((each) => each.type === 'era' && each.value.startsWith('B'))
    ? 1 - part('year')
    : part('year');
  const face = new Date(0);
  face.setUTCFullYear(year, part('month') - 1, part('day'));
  face.setUTCHours(part('hour'), part('minute'), part('second'));
  return face.getTime() - Math.floor(instant / 1000) * 1000;
}

const clocks = new Map<string, Intl.DateTimeFormat>();

/** Making a formatter takes a thousand times as long as using it. */
function clockOf(timeZone: string): Intl.DateTimeFormat {
  let clock = clocks.get(timeZone);
  if (clock === undefined) {
    clock = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    clocks.set(timeZone, clock);
  }
  return clock;
}
