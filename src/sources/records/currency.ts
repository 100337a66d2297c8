/**
 * Returns the currency of an amount: the configured one where the network names none, or writes a sign alone, which
 * several currencies share. A sign stays where none is configured, and landing refuses it.
 */
export function currencyOf(written: string | undefined, configured: string | undefined): string {
  if (written !== undefined && namesCurrency(written)) return written;
  return configured ?? (written?.trim() || 'USD');
}

/** False for a sign such as `$`. */
export function namesCurrency(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}
