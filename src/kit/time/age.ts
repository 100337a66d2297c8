const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** Formats an age as people say it; "in 5 min" for the future. Units that are not full are left out. */
export function ageText(seconds: number): string {
  const amount = amountText(Math.floor(Math.abs(seconds)));
  if (amount === undefined) return 'just now';
  return seconds < 0 ? `in ${amount}` : `${amount} ago`;
}

/** Formats a duration in the unit that people would name. */
export function durationText(seconds: number): string {
  return amountText(Math.floor(seconds)) ?? '0 s';
}

function amountText(seconds: number): string | undefined {
  if (seconds < 1) return undefined;
  if (seconds < minute) return `${seconds} s`;
  if (seconds < hour) return `${Math.floor(seconds / minute)} min`;
  // Up to two days the hours still matter: yesterday's log may be one hour late or twenty.
  if (seconds < 2 * day) return `${Math.floor(seconds / hour)} h`;
  return `${Math.floor(seconds / day)} d`;
}
