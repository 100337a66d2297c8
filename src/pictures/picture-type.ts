/** Mirrored types by file ending. SVG is excluded, since it may contain scripts. */
export const pictureTypes = {
  png: 'image/png',
  jpg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  avif: 'image/avif',
} as const;

/** Megabytes of 10⁶ bytes. */
export const maxPictureBytes = 5_000_000;

export type PictureEnding = keyof typeof pictureTypes;

/** The first box of AVIF lists a few brands of four letters each. */
const maxBrandBytes = 512;

/** Detects a picture's type by its first bytes, not by its address or the server. Undefined for anything else. */
export function pictureEnding(bytes: Buffer): PictureEnding | undefined {
  const start = bytes.toString('latin1', 0, 12);
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'png';
  if (start.startsWith('\xff\xd8\xff')) return 'jpg';
  if (/^GIF8[79]a/.test(start)) return 'gif';
  if (/^RIFF[^]{4}WEBP/.test(start)) return 'webp';
  return start.slice(4, 8) === 'ftyp' && brandsOf(bytes).some((brand) => /^avi[fs]$/.test(brand)) ? 'avif' : undefined;
}

/** Reads the brands of an `ftyp` box (ISO/IEC 14496-12): size, `ftyp`, major brand, version, compatible brands. */
function brandsOf(bytes: Buffer): string[] {
  const end = Math.min(bytes.readUInt32BE(0), maxBrandBytes, bytes.length);
  const brands = [bytes.toString('latin1', 8, 12)];
  for (let at = 16; at + 4 <= end; at += 4) brands.push(bytes.toString('latin1', at, at + 4));
  return brands;
}
