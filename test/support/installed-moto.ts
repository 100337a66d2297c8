import { pythonWith } from './python-environment.ts';

/** The Python that has moto, a server that speaks S3, made where there is none yet. Throws `MissingProgram`. */
export function installedMoto(tell: (line: string) => void): string {
  // Of its server only what S3 needs: all of it is three times as large.
  const beside = ['flask==3.1.3', 'flask-cors==6.0.5'];
  return pythonWith({ name: 'moto', version: '5.2.5', asked: 'moto[s3]', beside, size: '110 MB' }, tell).python;
}
