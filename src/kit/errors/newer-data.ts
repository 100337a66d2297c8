import { packageVersion } from '../files/package-files.ts';
import { UsageError } from './errors.ts';

/** Data was written by a newer offerline, and this one may not know what it means: it is left alone. */
export class NewerDataError extends UsageError {
  /** `what` names the data, `found` its version or schema, `known` the newest that this program knows. */
  constructor(what: string, found: string | number, known: string | number) {
    super(
      `${what} was written by a newer version of offerline: it has schema ${found}, and offerline ${packageVersion()} knows ${known}. It is left alone; use the newer version, or restore a backup from before its upgrade`,
    );
  }
}
