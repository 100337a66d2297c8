import type { Preview } from '../../actions/preview.ts';
import { hiddenFields } from '../../html/action-form.ts';
import { html, type Html } from '../../../kit/html/html.ts';
import { countsOf } from './jobs.ts';

/** The fields of a form; a name may come more than once. */
export type FormFields = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * The plan of an action, and the form that starts it.
 *
 * @param requestId Identifies this form: sent twice, it starts one job.
 */
export function previewBody(
  preview: Preview,
  fields: FormFields,
  { requestId, stale }: { requestId: string; stale?: string },
): Html {
  const { action, title, command, counts, digest, plan } = preview;
  return html`<h1>${title}: preview</h1>
    <p class="question">What would this action change? Nothing is changed yet.</p>
    ${stale !== undefined && html`<p class="error" role="alert">${stale}</p>`}
    <p><strong>${countsOf(counts)}</strong></p>
    ${plan}
    <p>On the command line: <code>${command}</code></p>
    ${
      changesNothing(preview)
        ? html`<p class="empty">Nothing would change, so there is nothing to start.</p>`
        : html`<form class="action" method="post" action="/actions/${action}">
            ${hiddenFields(fields)}${hiddenFields({ digest, request_id: requestId })}
            <button class="main">${title}</button>
          </form>`
    }`;
}

/** A refresh without new files still publishes what time has changed. */
function changesNothing({ action, counts }: Preview): boolean {
  return action !== 'refresh' && Object.values(counts).every((count) => count === 0);
}
