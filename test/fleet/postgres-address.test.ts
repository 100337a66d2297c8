import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { UsageError } from '../../src/kit/errors/errors.ts';
import { PostgresStore } from '../../src/fleet/postgres-deliveries/postgres-store.ts';

// A folder is what Docker makes of a file that is to be mounted and is not there.
it.for([
  ['sslrootcert=/not/there/ca.pem', "ENOENT: no such file or directory, open '/not/there/ca.pem'"],
  [`sslcert=${tmpdir()}`, 'EISDIR: illegal operation on a directory, read'],
])('an address with %s is refused by the name of its setting', async ([parameter, reason]) => {
  const opening = PostgresStore.open(`postgres://user:secret@127.0.0.1:1/deliveries?sslmode=verify-full&${parameter}`);
  await expect(opening).rejects.toThrow(UsageError);
  await expect(opening).rejects.toThrow(
    `postbacks.store: a file that the address names (sslrootcert, sslcert, sslkey) cannot be read: ${reason}`,
  );
});
