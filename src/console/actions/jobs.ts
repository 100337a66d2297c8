import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import pLimit from 'p-limit';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { exitCode } from '../../kit/errors/errors.ts';
import type { Logger } from '../../kit/logging/log.ts';
import { momentOfMilliseconds } from '../../kit/time/moment.ts';
import type { Action, ActionResult } from './action.ts';
import { actions } from './actions.ts';
import { AuditLog, type ActionIntent, type ActionOutcome } from './audit-log.ts';
import { endCommand, startCommand, type Launcher, type ProcessEnd } from './command-process.ts';
import { endedUnobserved, jobOf, type Job } from './job.ts';
import { JobFiles } from './job-files.ts';
import { errorLine, jobLines, type JobLine } from './log-lines.ts';
import { previewOf, type Preview } from './preview.ts';
import { ActionBusyError, ActionUsageError, StalePreviewError } from './action-errors.ts';

/** Running jobs of all actions; each action has at most one. */
const maxRunning = 3;
const maxPreviews = 2;
const maxPreviewsWaiting = 6;
/** A reader does not wait longer for a page. */
const previewMilliseconds = 30_000;
/** The newest jobs are shown; the audit log keeps all. */
const maxJobs = 500;
const maxLines = 200;

export interface ActionJobsOptions {
  data: DataDirectory;
  logger: Logger;
  launcher: Pick<Launcher, 'executable' | 'words'> & { environment?: NodeJS.ProcessEnv };
  /** Milliseconds since the epoch. */
  now?: () => number;
}

/** The user and the form that start an action: the same form sent twice starts one job. */
export interface ActionRequester {
  user: string;
  requestId: string;
}

interface Entry {
  intent: ActionIntent;
  outcome?: ActionOutcome;
}

/** A job whose process this console started. */
interface Running {
  /** Undefined where the process could not start. */
  child: ChildProcess | undefined;
  /** Resolves when the outcome is written. */
  over: Promise<void>;
}

/** The end of a process that could not start. */
type FailedEnd = ProcessEnd & { error: string };

/** Jobs of operators: previewed, started once, logged before and after. */
export class ActionJobs {
  readonly #options: ActionJobsOptions;
  readonly #launcher: Launcher;
  readonly #audit: AuditLog;
  readonly #files: JobFiles;
  /** Jobs by id, oldest first. */
  readonly #entries = new Map<string, Entry>();
  readonly #starting = new Map<string, Promise<Job>>();
  /** Names of the actions that run or are about to start. */
  readonly #busyActions = new Set<string>();
  /** Running jobs by id. */
  readonly #running = new Map<string, Running>();
  readonly #previews = pLimit(maxPreviews);
  readonly #stop = new AbortController();

  private constructor(options: ActionJobsOptions) {
    const { data, launcher } = options;
    this.#options = options;
    this.#launcher = { ...launcher, environment: { ...launcher.environment, OFFERLINE_DATA: data.root } };
    this.#audit = new AuditLog(data);
    this.#files = new JobFiles(data);
  }

  /** Loads the jobs of earlier consoles from the audit log. */
  static async open(options: ActionJobsOptions): Promise<ActionJobs> {
    const jobs = new ActionJobs(options);
    for (const entry of await jobs.#audit.read()) {
      if (entry.type === 'intent') jobs.#remember({ intent: entry });
      else {
        const started = jobs.#entries.get(entry.job);
        if (started !== undefined) started.outcome = entry;
      }
    }
    await jobs.#files.keepOnly(new Set(jobs.#entries.keys()));
    return jobs;
  }

  /** Number of jobs whose processes run. */
  get running(): number {
    return this.#running.size;
  }

  /**
   * Previews an action with the fields of a form. Throws `ActionUsageError` for an unknown action or a wrong parameter,
   * and `PreviewFailedError` where the dry run fails.
   */
  preview(name: string, given: Readonly<Record<string, unknown>>): Promise<Preview> {
    const action = actionOf(name);
    return this.#preview(action, parametersOf(action, given));
  }

  /**
   * Starts an action as it was previewed. The same form again returns the job that it started, also while that starts.
   * Throws `StalePreviewError` where the changes are no longer those of the preview, and `ActionBusyError` where
   * another job has to end first.
   */
  async start(
    name: string,
    given: Readonly<Record<string, unknown>>,
    digest: string,
    { user, requestId }: ActionRequester,
  ): Promise<Job> {
    const action = actionOf(name);
    const parameters = parametersOf(action, given);
    if (!/^[\w-]{8,64}$/.test(requestId))
      throw new ActionUsageError(422, 'request_id: the form has none; load the page again');
    const formKey = JSON.stringify([user, requestId, name, digest]);
    const started = [...this.#entries.values()].find(({ intent }) => formKeyOf(intent) === formKey);
    if (started !== undefined) return this.#shown(started);
    const starting =
      this.#starting.get(formKey) ??
      this.#start(action, parameters, digest, { user, requestId }).finally(() => this.#starting.delete(formKey));
    this.#starting.set(formKey, starting);
    return starting;
  }

  /** Returns all jobs, newest first. */
  list(): Job[] {
    return [...this.#entries.values()].toReversed().map((entry) => this.#shown(entry));
  }

  /** Returns a job with the last lines of its log; undefined where there is no such job. */
  async find(id: string): Promise<{ job: Job; lines: JobLine[] } | undefined> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    const job = this.#shown(entry);
    // A command writes its answer last.
    if (job.state === 'unknown' && (await this.#files.answer(id)) !== undefined) job.stateText = endedUnobserved;
    return { job, lines: jobLines(await this.#files.log(id), maxLines) };
  }

  /** Resolves when the outcome of a job of this console is written; at once for any other job. */
  async ended(id: string): Promise<void> {
    await this.#running.get(id)?.over;
  }

  /** Starts no more jobs, asks running ones to end after their step, and waits until their outcomes are written. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled(this.#starting.values());
    await Promise.all([...this.#running.values()].map(({ child, over }) => endCommand(child, over)));
  }

  async #start(action: Action, parameters: unknown, digest: string, requester: ActionRequester): Promise<Job> {
    this.#assertFree(action);
    this.#busyActions.add(action.name);
    try {
      const preview = await this.#preview(action, parameters);
      if (preview.digest !== digest) throw new StalePreviewError(action.title);
      this.#assertNotStopping();
      const intent: ActionIntent = {
        type: 'intent',
        at: this.#now(),
        job: `${this.#millisecond().toString(36)}-${randomBytes(6).toString('hex')}`,
        action: action.name,
        user: requester.user,
        request_id: requester.requestId,
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
      this.#busyActions.delete(action.name);
      throw error;
    }
  }

  #assertFree({ name, title }: Action): void {
    this.#assertNotStopping();
    if (this.#busyActions.has(name))
      throw new ActionBusyError(409, `${title}: another one is running; wait until it has ended`);
    if (this.#busyActions.size >= maxRunning)
      throw new ActionBusyError(
        409,
        `${this.#busyActions.size} actions are running, which is the limit: wait until one has ended`,
      );
  }

  #assertNotStopping(): void {
    if (this.#stop.signal.aborted) throw new ActionBusyError(503, 'the console is stopping: it starts no more actions');
  }

  #preview(action: Action, parameters: unknown): Promise<Preview> {
    if (this.#previews.pendingCount >= maxPreviewsWaiting)
      throw new ActionBusyError(503, 'too many previews at once: try again in a moment');
    const limits = { stop: this.#stop.signal, milliseconds: previewMilliseconds };
    return this.#previews(() => previewOf(action, parameters, this.#launcher, limits));
  }

  /** Starts the process; the action is free again once the outcome is written. */
  #run(action: Action, parameters: unknown, entry: Entry): void {
    const { job } = entry.intent;
    const { child, ended } = this.#started(job, action.arguments(parameters));
    const over = ended
      .catch((error: Error): FailedEnd => ({ code: null, signal: null, error: error.message }))
      .then((end) => this.#recordEnd(action, entry, end))
      .finally(() => {
        this.#running.delete(job);
        this.#busyActions.delete(action.name);
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

  async #recordEnd(action: Action, entry: Entry, end: ProcessEnd | FailedEnd): Promise<void> {
    const { intent } = entry;
    const { code, signal } = end;
    const { run_id, snapshot_id, counts } = await this.#resultOf(action, intent.job);
    const outcome: ActionOutcome = {
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
      this.#options.logger.error(
        { job: intent.job, err: error },
        'the outcome of an action could not be written; the job stays in state unknown after a restart',
      );
    }
  }

  #endState({ code, signal }: ProcessEnd): ActionOutcome['state'] {
    if (code === exitCode.done) return 'done';
    if (this.#stop.signal.aborted) return 'stopped';
    return signal === null ? 'failed' : 'killed';
  }

  /** A failed command may have an answer, too, as a test postback has. */
  async #resultOf(action: Action, job: string): Promise<ActionResult> {
    try {
      const answer = await this.#files.answer(job);
      return answer === undefined ? { counts: {} } : action.result(answer);
    } catch (error) {
      this.#options.logger.warn(
        { job, err: error },
        'the answer of an action cannot be read; the job is shown without counts',
      );
      return { counts: {} };
    }
  }

  /** Returns the reason of a failure, also where the log cannot be read. */
  async #errorOf(job: string): Promise<string | null> {
    try {
      return errorLine(await this.#files.log(job));
    } catch (error) {
      return `the reason is not known: the log cannot be read (${(error as NodeJS.ErrnoException).code})`;
    }
  }

  #shown({ intent, outcome }: Entry): Job {
    const title = actions.get(intent.action)?.title ?? intent.action;
    return jobOf(intent, title, outcome, this.#running.has(intent.job));
  }

  #remember(entry: Entry): void {
    this.#entries.set(entry.intent.job, entry);
    for (const id of this.#entries.keys()) {
      if (this.#entries.size <= maxJobs) break;
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

function formKeyOf({ user, request_id, action, digest }: ActionIntent): string {
  return JSON.stringify([user, request_id, action, digest]);
}

function actionOf(name: string): Action {
  const action = actions.get(name);
  if (action === undefined) throw new ActionUsageError(404, `there is no action "${name}"`);
  return action;
}

/** Parses the fields of a form; empty ones count as absent. */
function parametersOf({ title, parameters }: Action, given: Readonly<Record<string, unknown>>): unknown {
  const filled = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== '' && value !== undefined));
  const parsed = parameters.safeParse(filled);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new ActionUsageError(422, `${title}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is wrong'}`);
}
