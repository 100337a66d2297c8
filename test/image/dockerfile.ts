import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Copy, DockerfileParser } from 'dockerfile-ast';

export const repository = join(import.meta.dirname, '../..');

interface Instruction {
  keyword: string;
  /** What follows, without flags, continued lines put together. */
  text: string;
}

interface CopyInstruction extends Instruction {
  /** The stage that it copies from; else the folder of the build. */
  from: string | undefined;
  sources: string[];
  target: string;
}

interface Stage {
  image: string;
  name: string | undefined;
  instructions: (Instruction | CopyInstruction)[];
}

/** The stages of a Dockerfile, in order; the last one is the image. */
export function readDockerfile(file = join(repository, 'Dockerfile')): Stage[] {
  const stages: Stage[] = [];
  for (const instruction of DockerfileParser.parse(readFileSync(file, 'utf8')).getInstructions()) {
    const keyword = instruction.getKeyword();
    const words = instruction.getArguments().map((argument) => argument.getValue());
    const text = instruction.getArgumentsContent() ?? '';
    if (keyword === 'FROM') stages.push({ image: words[0] ?? '', name: words[2], instructions: [] });
    else if (keyword === 'COPY') {
      const flag = (name: string) =>
        (instruction as Copy)
          .getFlags()
          .find((each) => each.getName() === name)
          ?.getValue() ?? undefined;
      stages.at(-1)?.instructions.push({
        keyword,
        text,
        from: flag('from'),
        sources: words.slice(0, -1),
        target: words.at(-1) ?? '',
      } satisfies CopyInstruction);
    } else stages.at(-1)?.instructions.push({ keyword, text });
  }
  return stages;
}

export function isCopy(instruction: Instruction): instruction is CopyInstruction {
  return instruction.keyword === 'COPY';
}

/** The words of a command that starts without a shell. Throws where it would start with one. */
function execForm(text: string): string[] {
  if (!text.startsWith('[')) throw new Error(`${text} would be started by a shell, which keeps signals to itself`);
  return JSON.parse(text) as string[];
}

/** `NAME=value` of an ENV instruction, whose values have neither quotes nor spaces here. */
function variablesOf({ text }: Instruction): [name: string, value: string][] {
  return text.split(/\s+/).map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]);
}

/** How the finished image starts. */
export function readImage(): {
  user: string;
  environment: Record<string, string>;
  entrypoint: string[];
  command: string[];
  healthcheck: string[];
  stopSignal: string;
} {
  const { instructions } = readDockerfile().at(-1) as Stage;
  const last = (keyword: string) => instructions.findLast((each) => each.keyword === keyword)?.text ?? '';
  return {
    user: last('USER'),
    environment: Object.fromEntries(instructions.filter(({ keyword }) => keyword === 'ENV').flatMap(variablesOf)),
    entrypoint: execForm(last('ENTRYPOINT')),
    command: execForm(last('CMD')),
    healthcheck: execForm(last('HEALTHCHECK').replace(/^CMD /, '')),
    stopSignal: last('STOPSIGNAL'),
  };
}
