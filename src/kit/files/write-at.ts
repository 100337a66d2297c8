import type { FileHandle } from 'node:fs/promises';

/** Writes all bytes at a position. The system may take only some with a call, as on a disk that is nearly full. */
export async function writeAt(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let written = 0; written < bytes.length;)
    written += (await file.write(bytes, written, bytes.length - written, position + written)).bytesWritten;
}
