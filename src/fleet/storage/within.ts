/** True where a path that others wrote stays within the folder that it is joined to. */
export function isWithin(path: string): boolean {
  return path !== '' && !path.startsWith('/') && !path.split('/').some((part) => part === '..' || part === '.');
}
