import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import pLimit from 'p-limit';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { exitCode } from '../../kit/errors/errors.ts';
import type { Logger } from '../../kit/logging/log.ts';
import { momentOfMilliseconds } from '../../kit/time/moment.ts';
import type { Action, ActionResult } from './action.ts';
import { actions } from './actions.ts';
import { AuditLog, type Intent, type Outcome } from './audit-log.ts';
import { endCommand, startCommand, type Launcher, type ProcessEnd } from './command-process.ts';
import { cameToItsEnd, jobOf, type Job } from './job.ts';
import { JobFiles } from './job-files.ts';
import { errorLine, jobLines, type JobLine } from './log-lines.ts';
import { previewOf, type Preview } from './preview.ts';
import { ActionBusy, ActionUsageError, StalePreview } from './problems.ts';

/** Of all actions together; of each kind there is one. */
const mostRunning = 3;
const mostPreviews = 2;
const mostPreviewsWaiting = 6;
/** Whoever waits for a page does not wait longer. */
const previewMilliseconds = 30_000;
/** The newest jobs are remembered and shown; the audit log keeps all. */
const mostJobs = 500;
const mostLines = 200;

export interface ActionJobsOptions {
  data: DataDirectory;
  logger: Logger;
  launcher: Pick<Launcher, 'executable' | 'words'> & { environment?: NodeJS.ProcessEnv };
  /** Milliseconds since the epoch. */
  now?: () => number;
}

/** Who asks for an action, and by which form: the same form sent twice is one wish. */
export interface Asker {
  user: string;
  requestId: string;
}

interface Entry {
  intent: Intent;
  outcome?: Outcome;
}

/** A job whose process is ours. */
interface Running {
  /** Undefined where it could not be started. */
  child: ChildProcess | undefined;
  /** Resolves when its outcome is written. */
  over: Promise<void>;
}

/** Of a process that was never there. */
type FailedEnd = ProcessEnd & { error: string };

/** What operators do from the console: previewed, begun once, written down before and after. */
export class ActionJobs {
  readonly #options: ActionJobsOptions;
  readonly #launcher: Launcher;
  readonly #audit: AuditLog;
  readonly #files: JobFiles;
  /** The oldest first. */
  readonly #entries = new Map<string, Entry>();
  readonly #starting = new Map<string, Promise<Job>>();
  /** Names of the actions of which one is under way, or about to be. */
  readonly #lanes = new Set<string>();
  /** By the job. */
  readonly #running = new Map<string, Running>();
  readonly #previews = pLimit(mostPreviews);
  readonly #stop = new AbortController();

  private constructor(options: ActionJobsOptions) {
    const { data, launcher } = options;
    this.#options = options;
    this.#launcher = { ...launcher, environment: { ...launcher.environment, OFFERLINE_DATA: data.root } };
    this.#audit = new AuditLog(data);
    this.#files = new JobFiles(data);
  }

  /** With the jobs of consoles before. */
  static async open(options: ActionJobsOptions): Promise<ActionJobs> {
    const jobs = new ActionJobs(options);
    for (const entry of await jobs.#audit.read()) {
      if (entry.type === 'intent') jobs.#remember({ intent: entry });
      else {
        const begun = jobs.#entries.get(entry.job);
        if (begun !== undefined) begun.outcome = entry;
      }
    }
    await jobs.#files.keepOnly(new Set(jobs.#entries.keys()));
    return jobs;
  }

  /**
   * What an action would do. `given` is a form's fields. Throws `ActionUsageError` for what is no action or no
   * parameter of it, `PreviewFailed` with the reason in words.
   */
  preview(name: string, given: Readonly<Record<string, unknown>>): Promise<Preview> {
    const action = actionOf(name);
    return this.#preview(action, parametersOf(action, given));
  }

  /**
   * Begins an action as it was previewed. The same wish finds the job that was begun for it, also while that begins.
   * Throws `StalePreview` where something else would change by now, `ActionBusy` where it has to wait for another job.
   */
  async start(
    name: string,
    given: Readonly<Record<string, unknown>>,
    digest: string,
    { user, requestId }: Asker,
  ): Promise<Job> {
    const action = actionOf(name);
    const parameters = parametersOf(action, given);
    if (!/^[\w-]{8,64}$/.test(requestId))
      throw new ActionUsageError(422, 'request_id: the form has none; load its page again');
    const wish = JSON.stringify([user, requestId, name, digest]);
    const begun = [...this.#entries.values()].find(({ intent }) => wishOf(intent) === wish);
    if (begun !== undefined) return this.#shown(begun);
    const starting =
      this.#starting.get(wish) ??
      this.#begin(action, parameters, digest, { user, requestId }).finally(() => this.#starting.delete(wish));
    this.#starting.set(wish, starting);
    return starting;
  }

  /** The newest first. */
  list(): Job[] {
    return [...this.#entries.values()].toReversed().map((entry) => this.#shown(entry));
  }

  /** One job, with the last lines that its command told; undefined where there is none of that id. */
  async find(id: string): Promise<{ job: Job; lines: JobLine[] } | undefined> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    const job = this.#shown(entry);
    // The answer is the last that a command writes.
    if (job.state === 'unknown' && (await this.#files.answer(id)) !== undefined) job.said = cameToItsEnd;
    return { job, lines: jobLines(await this.#files.log(id), mostLines) };
  }

  /** Resolves when a job of this console has ended and that is written down; at once for any other. */
  async ended(id: string): Promise<void> {
    await this.#running.get(id)?.over;
  }

  /** Begins nothing more, asks what is under way to end after its step, and waits until that is written down. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled(this.#starting.values());
    await Promise.all([...this.#running.values()].map(({ child, over }) => endCommand(child, over)));
  }

  async #begin(action: Action, parameters: unknown, digest: string, asker: Asker): Promise<Job> {
    this.#assertFree(action);
    this.#lanes.add(action.name);
    try {
      const preview = await this.#preview(action, parameters);
      if (preview.digest !== digest) throw new StalePreview(action.title);
      this.#assertGoingOn();
      const intent: Intent = {
        type: 'intent',
        at: this.#now(),
        job: `${this.#millisecond().toString(36)}-${randomBytes(6).toString('hex')}`,
        action: action.name,
        user: asker.user,
        request_id: asker.requestId,
        digest,
        parameters,
        command: preview.command,
        counts: preview.counts,
      };
      await this.#audit.append(intent);
      const entry: Entry = { intent };
      this.#remember(entry);
      this.#run(action, parameters, entry);
      return this.#shown(entry);
    } catch (error) {
      this.#lanes.delete(action.name);
      throw error;
    }
  }

  #assertFree({ name, title }: Action): void {
    this.#assertGoingOn();
    if (this.#lanes.has(name))
      throw new ActionBusy(409, `${title}: another one is under way; its job tells when it has ended`);
    if (this.#lanes.size >= mostRunning)
      throw new ActionBusy(409, `${this.#lanes.size} actions are under way, and no more at once: wait for one of them`);
  }

  #assertGoingOn(): void {
    if (this.#stop.signal.aborted) throw new ActionBusy(503, 'the console is stopping: nothing more is begun');
  }

  #preview(action: Action, parameters: unknown): Promise<Preview> {
    if (this.#previews.pendingCount >= mostPreviewsWaiting)
      throw new ActionBusy(503, 'too many previews at once: try again in a moment');
    const limits = { stop: this.#stop.signal, milliseconds: previewMilliseconds };
    return this.#previews(() => previewOf(action, parameters, this.#launcher, limits));
  }

  /** Starts the process; its lane is free again once its outcome is written. */
  #run(action: Action, parameters: unknown, entry: Entry): void {
    const { job } = entry.intent;
    const { child, ended } = this.#started(job, action.arguments(parameters));
    const over = ended
      .catch((error: Error): FailedEnd => ({ code: null, signal: null, error: error.message }))
      .then((end) => this.#close(action, entry, end))
      .finally(() => {
        this.#running.delete(job);
        this.#lanes.delete(action.name);
      });
    this.#running.set(job, { child, over });
  }

  #started(job: string, words: readonly string[]): { child: ChildProcess | undefined; ended: Promise<ProcessEnd> } {
    try {
      const files = this.#files.open(job);
      try {
        return startCommand(this.#launcher, words, ['ignore', files.answer, files.log]);
      } finally {
        files.close();
      }
    } catch (error) {
      return { child: undefined, ended: Promise.reject(error) };
    }
  }

  async #close(action: Action, entry: Entry, end: ProcessEnd | FailedEnd): Promise<void> {
    const { intent } = entry;
    const { code, signal } = end;
    const { run_id, snapshot_id, counts } = await this.#resultOf(action, intent.job);
    const outcome: Outcome = {
      type: 'outcome',
      at: this.#now(),
      job: intent.job,
      state: this.#endState(end),
      exit_code: code,
      signal,
      run_id: run_id ?? null,
      snapshot_id: snapshot_id ?? null,
      counts,
      error: code === exitCode.done ? null : 'error' in end ? end.error : await this.#errorOf(intent.job),
    };
    entry.outcome = outcome;
    try {
      await this.#audit.append(outcome);
    } catch (error) {
      this.#options.logger.error({ job: intent.job, err: error }, 'the end of an action could not be written down');
    }
  }

  #endState({ code, signal }: ProcessEnd): Outcome['state'] {
    if (code === exitCode.done) return 'done';
    if (this.#stop.signal.aborted) return 'stopped';
    return signal === null ? 'failed' : 'killed';
  }

  /** A command that failed may have answered, too, as a test postback does. */
  async #resultOf(action: Action, job: string): Promise<ActionResult> {
    try {
      const answer = await this.#files.answer(job);
      return answer === undefined ? { counts: {} } : action.result(answer);
    } catch (error) {
      this.#options.logger.warn({ job, err: error }, 'the answer of an action cannot be read, or is not understood');
      return { counts: {} };
    }
  }

  /** What its end is written down with, whatever has become of its log. */
  async #errorOf(job: string): Promise<string | null> {
    try {
      return errorLine(await this.#files.log(job));
    } catch (error) {
      return `why is not known: its log cannot be read (${(error as NodeJS.ErrnoException).code})`;
    }
  }

  #shown({ intent, outcome }: Entry): Job {
    const title = actions.get(intent.action)?.title ?? intent.action;
    return jobOf(intent, title, outcome, this.#running.has(intent.job));
  }

  #remember(entry: Entry): void {
    this.#entries.set(entry.intent.job, entry);
    for (const id of this.#entries.keys()) {
      if (this.#entries.size <= mostJobs) break;
      if (!this.#running.has(id)) this.#entries.delete(id);
    }
  }

  #millisecond(): number {
    return (this.#options.now ?? Date.now)();
  }
  #now(): string {
    return momentOfMilliseconds(this.#millisecond());
  }
}

function wishOf({ user, request_id, action, digest }: Intent): string {
  return JSON.stringify([user, request_id, action, digest]);
}

function actionOf(name: string): Action {
  const action = actions.get(name);
  if (action === undefined) throw new ActionUsageError(404, `there is no action "${name}"`);
  return action;
}

/** An empty field of a form is one that was left empty. */
function parametersOf({ title, parameters }: Action, given: Readonly<Record<string, unknown>>): unknown {
  const filled = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== '' && value !== undefined));
  const parsed = parameters.safeParse(filled);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new ActionUsageError(422, `${title}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is wrong'}`);
}
