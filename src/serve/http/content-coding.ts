/** The forms in which a body can leave; `identity` is the body as it stands. */
export type ContentCoding = 'br' | 'gzip' | 'identity';

/** A smaller body leaves as it stands where the client takes that: it fills one packet either way. Bytes. */
const leastWorthCoding = 1024;

/** Acceptable without being named, but wanted least. */
const unnamed = 0.0001;

const member = /^\s*([!#$%&'*+.^_`|~\w-]+)\s*(?:;\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?$/i;

/**
 * The form that an `Accept-Encoding` asks for most, the shorter one among equals (RFC 9110, 12.5.3).
 * A header that refuses everything is disregarded, as the standard allows.
 */
export function chooseCoding(accepted: string | undefined, bytes: number): ContentCoding {
  if (accepted === undefined) return 'identity';
  const weights = weightsOf(accepted);
  const others = weights.get('*');
  const identity = weights.get('identity') ?? others ?? unnamed;
  if (bytes < leastWorthCoding && identity > 0) return 'identity';
  const br = weights.get('br') ?? others ?? 0;
  const gzip = weights.get('gzip') ?? weights.get('x-gzip') ?? others ?? 0;
  const most = Math.max(br, gzip, identity);
  if (most === 0 || identity > Math.max(br, gzip)) return 'identity';
  return br === most ? 'br' : 'gzip';
}

/** What cannot be read is left out, as if it had not been sent. */
function weightsOf(accepted: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const part of accepted.split(',')) {
    const [, coding, weight = '1'] = member.exec(part) ?? [];
    if (coding !== undefined) weights.set(coding.toLowerCase(), Number(weight));
  }
  return weights;
}
