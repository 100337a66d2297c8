import { pythonWith } from './python-environment.ts';

/** The Python that has moto, a server that speaks S3, made where there is none yet. Throws `MissingProgram`. */
export function installedMoto(tell: (line: string) => void): string {
  return pythonWith({ name: 'moto', version: '5.2.5', asked: 'moto[server]', size: '320 MB' }, tell).python;
}
