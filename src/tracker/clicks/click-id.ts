import { createHmac, createSecretKey, randomInt, timingSafeEqual, type KeyObject } from 'node:crypto';

/** The contents of a click id that the tracker minted. */
export interface MintedClick {
  offerId: number;
  /** Milliseconds since the epoch, by the clock of the tracker that minted it. */
  mintedAt: number;
}

/** Crockford's base32, without letters that look like digits. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/*
 * 20 bytes: time of minting in milliseconds (6), offer (4), a counter (3), random (2), and the first bytes of an
 * HMAC-SHA256 over all before (5). Ids sort by time, so that a day of them is near together; counter and random bytes
 * differ for ids of the same millisecond, also where the clock was set back.
 */
const offerAt = 6;
const counterAt = 10;
const randomAt = 13;
const macAt = 15;
const idBytes = 20;
/** Eight characters hold five bytes. */
const idCharacters = (idBytes * 8) / 5;
const idPattern = new RegExp(`^[${alphabet}]{${idCharacters}}$`);

/** Makes ids of clicks that nobody else can make, and recognises them. */
export class ClickIds {
  readonly #keys: readonly KeyObject[];
  #counter = randomInt(2 ** 24);

  /** The first key makes ids; those that the others made still count. Throws where there is none. */
  constructor(keys: readonly Buffer[]) {
    if (keys.length === 0) throw new Error('ids of clicks need a key');
    // A key object is several times quicker to sign with than its bytes.
    this.#keys = keys.map((key) => createSecretKey(key));
  }

  /** Makes an id of 32 characters. `now`: milliseconds since the epoch. */
  mint(offerId: number, now: number): string {
    const bytes = Buffer.alloc(idBytes);
    this.#counter = (this.#counter + 1) % 2 ** 24;
    bytes.writeUIntBE(now, 0, 6);
    bytes.writeUInt32BE(offerId, offerAt);
    bytes.writeUIntBE(this.#counter, counterAt, 3);
    bytes.writeUInt16BE(randomInt(2 ** 16), randomAt);
    macOf(bytes, this.#keys[0] as KeyObject).copy(bytes, macAt);
    return base32(bytes);
  }

  /** Returns what an id says; undefined where no key made it, also where it is written in capitals. */
  verify(clickId: string): MintedClick | undefined {
    if (!idPattern.test(clickId)) return undefined;
    const bytes = fromBase32(clickId);
    const mac = bytes.subarray(macAt);
    if (!this.#keys.some((key) => timingSafeEqual(macOf(bytes, key), mac))) return undefined;
    return { offerId: bytes.readUInt32BE(offerAt), mintedAt: bytes.readUIntBE(0, 6) };
  }
}

/** The MAC over what an id says, cut to what an id has room for. */
function macOf(bytes: Buffer, key: KeyObject): Buffer {
  const mac = createHmac('sha256', key).update(bytes.subarray(0, macAt)).digest();
  return mac.subarray(0, idBytes - macAt);
}

function base32(bytes: Buffer): string {
  let text = '';
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    bits = ((bits << 8) | byte) & 0xfff;
    for (held += 8; held >= 5;) {
      held -= 5;
      text += alphabet.charAt((bits >>> held) & 31);
    }
  }
  return text;
}

function fromBase32(text: string): Buffer {
  const bytes = Buffer.alloc(idBytes);
  let bits = 0;
  let held = 0;
  let at = 0;
  for (const character of text) {
    bits = ((bits << 5) | alphabet.indexOf(character)) & 0xfff;
    held += 5;
    if (held < 8) continue;
    held -= 8;
    bytes[at++] = (bits >>> held) & 0xff;
  }
  return bytes;
}
