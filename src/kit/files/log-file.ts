import { writeSync } from 'node:fs';
import { constants, open as openFile, stat } from 'node:fs/promises';

/** An open file that is only added to. */
export interface LogFile {
  /**
   * Adds bytes at the end, and forces them to the disk where the file was opened so. Gives how many it took, which are
   * fewer where room runs out.
   */
  append(bytes: Buffer, step: string): Promise<number>;
  /** Forces what was added to the disk. */
  sync(step: string): Promise<void>;
  /** Cuts it to so many bytes. */
  truncate(bytes: number, step: string): Promise<void>;
  /** False where the path leads to nothing or to another file: somebody moved or removed this one, or its folder. */
  isAt(path: string): Promise<boolean>;
  /** What stands there, also of a file that was removed. */
  read(at: number, bytes: number): Promise<Buffer>;
  close(): Promise<void>;
}

/** Room is made for so much at once. Bytes. */
const roomBytes = 1024 * 1024;
/** For less in a file that begins: most hold a few rows and are cut again. Bytes. */
const firstRoomBytes = 256 * 1024;
/** More is made once less is left: it is there before it is needed. Bytes. */
const leastRoom = 128 * 1024;
const zeros = Buffer.alloc(roomBytes);

const { O_CREAT, O_EXCL, O_WRONLY, O_RDWR, O_DSYNC } = constants;

/**
 * Opens a file that is not there yet. Behind what was added it may have zeros: what is written over them changes
 * nothing that the file system keeps in its journal, which would be most of what it takes to force a few rows to the
 * disk. Who is done with it cuts it to what was added; who finds it after a loss of power believes nothing behind the
 * first zero. `isForced`: an addition is on the disk once it is made, in one call of the system where a sync would be a
 * second. `open`: replaced by tests of a slow disk.
 */
export async function openLogFile(path: string, isForced: boolean, open = openFile): Promise<LogFile> {
  const forced = isForced ? O_DSYNC : 0;
  const handle = await open(path, O_CREAT | O_EXCL | O_RDWR | forced);
  // Its own: where two calls of one handle are under way, the system tells only one of them that the disk failed.
  const roomHandle = await open(path, O_WRONLY | forced).catch(async (error: unknown) => {
    await handle.close();
    throw error;
  });
  let end = 0;
  let room = 0;
  let syncs = 0;
  /** Rejects as long as it is kept: the rows that need it are refused then. */
  let makingRoom: Promise<void> | undefined;
  const makeRoom = async (bytes: number) => {
    room += (await roomHandle.write(zeros, 0, bytes, room)).bytesWritten;
    makingRoom = undefined;
  };
  const writeElsewhere = async (bytes: Buffer) => (await handle.write(bytes, 0, bytes.length, end)).bytesWritten;
  /**
   * A write into room takes less time than to hand it to another thread; but while the disk is at work on the file it
   * may have to wait for that, and then nothing else is to wait with it.
   */
  const write = async (bytes: Buffer) => {
    const isShort = !isForced && syncs === 0 && makingRoom === undefined && end + bytes.length <= room;
    return isShort ? writeSync(handle.fd, bytes, 0, bytes.length, end) : writeElsewhere(bytes);
  };
  return {
    async append(bytes) {
      if (end + bytes.length > room) await makingRoom;
      if (end + bytes.length > room && bytes.length < roomBytes)
        await makeRoom(room === 0 ? firstRoomBytes : roomBytes);
      const taken = await write(bytes);
      end += taken;
      room = Math.max(room, end);
      if (room - end < leastRoom && makingRoom === undefined) {
        makingRoom = makeRoom(roomBytes);
        makingRoom.catch(() => undefined);
      }
      return taken;
    },
    async sync() {
      syncs++;
      await handle.datasync().finally(() => syncs--);
    },
    async truncate(bytes) {
      // Else it would make the file long again.
      await makingRoom?.catch(() => undefined);
      makingRoom = undefined;
      await handle.truncate(bytes);
      end = room = bytes;
    },
    async isAt(at) {
      const [own, there] = await Promise.all([handle.stat(), statOf(at)]);
      return there !== 'nothing' && (there === undefined || (own.dev === there.dev && own.ino === there.ino));
    },
    async read(at, bytes) {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, at);
      return buffer.subarray(0, bytesRead);
    },
    async close() {
      await makingRoom?.catch(() => undefined);
      await Promise.all([handle.close(), roomHandle.close()]);
    },
  };
}

/** Undefined where the system does not say. */
async function statOf(path: string): Promise<{ dev: number; ino: number } | 'nothing' | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'nothing' : undefined;
  }
}
