import { hash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';

/** What an id of ours says of its click. */
export interface KnownClick {
  offerId: number;
  /** Milliseconds since the epoch, by the clock of the tracker that minted it. */
  mintedAt: number;
}

/** Crockford's base32: no letter that is taken for a digit. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
/** The value of each character by its code; -1 for those that no id has, capitals among them. */
const valueOf = new Int8Array(128).fill(-1);
for (let value = 0; value < alphabet.length; value++) valueOf[alphabet.charCodeAt(value)] = value;

/*
 * 20 bytes: time of minting in milliseconds (6), offer (4), a counter (3), random (2), and the first bytes of an
 * HMAC-SHA256 over all before (5). Ids sort by time, so that a day of them is near together; a counter and random
 * bytes tell apart what is minted in the same millisecond, also where the clock was set back.
 */
const offerAt = 6;
const counterAt = 10;
const randomAt = 13;
const macAt = 15;
const idBytes = 20;
/** Eight characters hold five bytes. */
const idCharacters = (idBytes * 8) / 5;

/** Makes ids of clicks that nobody else can make, and tells of one whether it is such, for which offer and when. */
export class ClickIds {
  readonly #keys: readonly HmacKey[];
  readonly #bytes = Buffer.alloc(idBytes);
  #counter = randomInt(2 ** 24);

  /** The first key makes ids; those that the others made still count. Throws where there is none. */
  constructor(keys: readonly Buffer[]) {
    if (keys.length === 0) throw new Error('ids of clicks need a key');
    this.#keys = keys.map((key) => new HmacKey(key));
  }

  /** An id of 32 characters. `now`: milliseconds since the epoch. */
  mint(offerId: number, now: number): string {
    const bytes = this.#bytes;
    this.#counter = (this.#counter + 1) % 2 ** 24;
    bytes.writeUIntBE(now, 0, 6);
    bytes.writeUInt32BE(offerId, offerAt);
    bytes.writeUIntBE(this.#counter, counterAt, 3);
    bytes.writeUInt16BE(randomPair(), randomAt);
    (this.#keys[0] as HmacKey).sign(bytes, bytes);
    return textOf(bytes);
  }

  /** What the id says, undefined where it is none of ours: the wrong letters, capitals, or not by one of our keys. */
  verify(clickId: string): KnownClick | undefined {
    const bytes = bytesOf(clickId);
    if (bytes === undefined) return undefined;
    const signed = Buffer.alloc(idBytes);
    const isBy = (key: HmacKey) => {
      key.sign(bytes, signed);
      return timingSafeEqual(signed.subarray(macAt), bytes.subarray(macAt));
    };
    if (!this.#keys.some(isBy)) return undefined;
    return { offerId: bytes.readUInt32BE(offerAt), mintedAt: bytes.readUIntBE(0, 6) };
  }
}

/** A block of SHA-256, to which HMAC pads its key. */
const blockBytes = 64;
const digestBytes = 32;

/**
 * HMAC-SHA256 as two one-shot hashes, since one is made for every click: a tenth of the time of `createHmac`. Taken as
 * texts of a character for each byte, since a buffer outside of V8's heap takes twice as long.
 */
class HmacKey {
  readonly #inner = Buffer.alloc(blockBytes + macAt, 0x36);
  readonly #outer = Buffer.alloc(blockBytes + digestBytes, 0x5c);

  /** Throws where the key is longer than a block, which would have to be hashed first. */
  constructor(key: Buffer) {
    if (key.length > blockBytes) throw new Error(`a key has at most ${blockBytes} bytes`);
    for (const [index, byte] of key.entries()) {
      this.#inner[index] = byte ^ 0x36;
      this.#outer[index] = byte ^ 0x5c;
    }
  }

  /** Writes behind what an id says, which is read from `said`, the bytes that sign it. */
  sign(said: Buffer, signed: Buffer): void {
    said.copy(this.#inner, blockBytes, 0, macAt);
    this.#outer.write(hash('sha256', this.#inner, 'binary'), blockBytes, 'latin1');
    signed.write(hash('sha256', this.#outer, 'binary'), macAt, idBytes - macAt, 'latin1');
  }
}

const randomPool = Buffer.alloc(4096);
let randomUsed = randomPool.length;

/** Two random bytes: fetched many at a time, since each fetch is a call of the system. */
function randomPair(): number {
  if (randomUsed === randomPool.length) {
    randomBytes(randomPool.length).copy(randomPool);
    randomUsed = 0;
  }
  randomUsed += 2;
  return randomPool.readUInt16BE(randomUsed - 2);
}

/** The characters of an id, put together here: a text that grows by one at a time leaves 31 others behind. */
const characters = Buffer.alloc(idCharacters);

function textOf(bytes: Buffer): string {
  for (let at = 0, to = 0; at < idBytes; at += 5, to += 8) {
    // Forty bits are more than bitwise operators take at once: twenty and twenty.
    writeFour(bytes.readUIntBE(at, 3) >>> 4, to);
    writeFour(bytes.readUIntBE(at + 2, 3) & 0xfffff, to + 4);
  }
  return characters.toString('latin1');
}

function writeFour(bits: number, to: number): void {
  characters[to] = alphabet.charCodeAt(bits >>> 15);
  characters[to + 1] = alphabet.charCodeAt((bits >>> 10) & 31);
  characters[to + 2] = alphabet.charCodeAt((bits >>> 5) & 31);
  characters[to + 3] = alphabet.charCodeAt(bits & 31);
}

function bytesOf(text: string): Buffer | undefined {
  if (text.length !== idCharacters) return undefined;
  const bytes = Buffer.alloc(idBytes);
  let bits = 0;
  let held = 0;
  let at = 0;
  for (let index = 0; index < text.length; index++) {
    const value = valueOf[text.charCodeAt(index)] ?? -1;
    if (value === -1) return undefined;
    bits = ((bits << 5) | value) & 0xfff;
    held += 5;
    if (held < 8) continue;
    held -= 8;
    bytes[at++] = (bits >>> held) & 0xff;
  }
  return bytes;
}
