import { namingFile, QuarantineError, type LandingFile } from '../landing/landing-file.ts';

/** Opens files one after the other. `open` throws `QuarantineError` for one that cannot be read whole. */
export async function openEach<File extends Pick<LandingFile, 'path'>, Opened>(
  files: readonly File[],
  open: (file: File) => Promise<Opened>,
): Promise<{ opened: Opened[]; broken: { file: File; reason: string; detail: string }[] }> {
  const opened: Opened[] = [];
  const broken: { file: File; reason: string; detail: string }[] = [];
  for (const file of files) {
    try {
      opened.push(await open(file));
    } catch (error) {
      if (!(error instanceof QuarantineError)) throw namingFile(error, file);
      broken.push({ file, reason: error.reason, detail: error.message });
    }
  }
  return { opened, broken };
}
