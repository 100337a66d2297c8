import { readFileSync } from 'node:fs';
import { shownAddress, type SparkWork } from './spark-work.ts';

type FailedWork = Pick<SparkWork, 'log' | 'master' | 'connect' | 'driverMemory'>;

/** Errors of Spark whose text names neither cause nor cure. `log`: what its log has to say beside. */
const rules: { error: RegExp; log?: RegExp; explain: (work: FailedWork) => string }[] = [
  {
    error: /JAVA_GATEWAY_EXITED|Java gateway process exited/,
    log: /JAVA_HOME is not set|java: (command )?not found|(No such file or directory|cannot execute).*java|java.*(No such file or directory|cannot execute)/i,
    explain: () => 'there is no Java: install Java 17 or newer on this machine, and set JAVA_HOME or PATH to it',
  },
  {
    error: /JAVA_GATEWAY_EXITED|Java gateway process exited/,
    explain: ({ driverMemory }) =>
      `Java has ended before it was ready: its log has the reason, often a Java older than 17 or ${driverMemory === undefined ? 'too little memory' : `an engine.resources.driver_memory (${driverMemory}) that this machine does not have`}`,
  },
  {
    error: /stopped SparkContext|SparkContext was shut down|Connection refused/i,
    log: /All masters are unresponsive/,
    explain: ({ master }) =>
      `no master answers at ${master}: start it there, or correct engine.master in offerline.json; it has to be of the version of pyspark`,
  },
  {
    error: /stopped SparkContext|SparkContext was shut down/i,
    log: /Master removed our application/,
    explain: ({ master }) => `the master at ${master} has ended the application: its log has the reason`,
  },
  {
    error: /failed to connect to all addresses|StatusCode\.UNAVAILABLE/,
    explain: (work) =>
      `no Spark Connect server answers at ${shownAddress(work)}: start it there, or correct engine.connect in offerline.json`,
  },
];

/** Returns the error with cause and cure before it, where they are known. */
export function explainedError(error: string, work: FailedWork): string {
  let log: string | undefined;
  const rule = rules.find(
    (each) => each.error.test(error) && (each.log === undefined || each.log.test((log ??= textOf(work.log)))),
  );
  return rule === undefined ? error : `${rule.explain(work)} (original error: ${error})`;
}

/** Reads what Spark has written so far, which is little where it did not start; empty where that cannot be had. */
function textOf(log: string): string {
  try {
    return readFileSync(log, 'utf8');
  } catch {
    return '';
  }
}
