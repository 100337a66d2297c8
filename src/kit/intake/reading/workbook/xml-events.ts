import { SaxesParser } from 'saxes';
import { UnusableFile } from '../record-sink.ts';
import type { ZipMembers } from '../zip-members.ts';

interface XmlListener {
  /** Called with the name without its prefix. */
  open?: (name: string, attributes: Readonly<Record<string, string>>) => void;
  close?: (name: string) => void;
  text?: (text: string) => void;
}

/** Reads a member of a workbook as XML. `check` sees its bytes before. */
export async function readXml(
  members: ZipMembers,
  member: string,
  check: (chunk: Buffer) => void,
  { open, close, text }: XmlListener,
): Promise<void> {
  const parser = new SaxesParser<{ xmlns: false }>({ xmlns: false });
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let problem: Error | undefined;
  parser.on('error', (error) => {
    problem ??= error;
  });
  const local = (name: string) => name.slice(name.indexOf(':') + 1);
  if (open !== undefined) parser.on('opentag', ({ name, attributes }) => open(local(name), attributes));
  if (close !== undefined) parser.on('closetag', ({ name }) => close(local(name)));
  if (text !== undefined) {
    parser.on('text', text);
    parser.on('cdata', text);
  }
  const assertValid = () => {
    if (problem !== undefined)
      throw new UnusableFile({ reason: 'broken_xlsx', detail: `${member} is not valid XML: ${problem.message}` });
  };
  const decode = (chunk?: Buffer) => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      throw new UnusableFile({ reason: 'broken_xlsx', detail: `the text of ${member} is not valid UTF-8` });
    }
  };
  await members.read(member, (chunk) => {
    check(chunk);
    parser.write(decode(chunk));
    assertValid();
  });
  // A character may be cut at the end.
  parser.write(decode());
  parser.close();
  assertValid();
}
