import { passingAnswer } from './answer.ts';
import type { Answer } from './answer.ts';
import type { PublishedSnapshot } from './published-snapshot.ts';

/** What a machine asks of the service, by path. No credentials, nothing of any site. */
export const healthAnswers: ReadonlyMap<string, (snapshot: PublishedSnapshot | undefined) => Answer> = new Map([
  ['/healthz', alive],
  ['/readyz', ready],
]);

/** The process lives: that it answers is the answer. */
function alive(snapshot: PublishedSnapshot | undefined): Answer {
  return passingAnswer(200, { status: 'ok' }, snapshot);
}

/** Feeds can be served. */
function ready(snapshot: PublishedSnapshot | undefined): Answer {
  if (snapshot === undefined) return passingAnswer(503, { status: 'unavailable', reason: 'no published snapshot that is whole' }, undefined);
  return passingAnswer(200, { status: 'ready', snapshot_id: snapshot.id, as_of: snapshot.asOf }, snapshot);
}
