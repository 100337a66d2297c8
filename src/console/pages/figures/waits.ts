import type { AdvisedAction } from '../../../pipeline/status/actions.ts';
import { describeRole } from '../../../pipeline/status/describe-machine.ts';
import { actionForm } from '../../html/action-form.ts';
import { codeText } from '../../html/code-text.ts';
import { html, type Html } from '../../../kit/html/html.ts';
import { moment } from '../../html/values.ts';
import type { HealthSummary } from '../../live/health.ts';
import { cureOf, type Cure } from './cures.ts';

interface Waiting extends AdvisedAction {
  cure: Cure;
}

/** The health of all in one sentence. */
export function healthSentence({ status, word, checkedAt }: HealthSummary): Html {
  if (status === undefined)
    return html`<section class="waits attention"><p class="sentence">The health check is running.</p></section>`;
  return html`<section class="waits ${word}">
    <p class="sentence">${sentence(status.to_do)}</p>
    <p class="count">
      On this machine ${describeRole(status.schedule)}. Checked at ${moment(new Date(checkedAt).toISOString())}. <code>offerline status</code> prints the same.
    </p>
  </section>`;
}

/** What waits for somebody, by weight, each with the page of its cure. The overview shows all of it. */
export function waitingList(actions: readonly AdvisedAction[], user: { role: string }): Html | false {
  if (actions.length === 0) return false;
  return html`<section id="attention" class="waits list">
    <h2>To do, by weight</h2>
    <ul>
      ${byWeight(actions).map((each) => html`<li${each.alarm === true && html` class="alarm"`}>${troubleOf(each)}${cureForms(each, user)}</li> `)}
    </ul>
  </section>`;
}

/**
 * What waits of that list and is cured on this page, which has the actions itself; `path` without parameters. False
 * where nothing does.
 */
export function waitingHere(actions: readonly AdvisedAction[], path: string): Html | false {
  const here = byWeight(actions).filter(({ cure }) => cure.href.split('?', 1)[0] === path);
  if (here.length === 0) return false;
  return html`<section class="waits list" aria-label="To do here">
    <ul>
      ${here.map((each) => html`<li${each.alarm === true && html` class="alarm"`}>${troubleOf(each)}</li> `)}
    </ul>
  </section>`;
}

/** What fails before what can wait; of each, receivers first: their publishers' users wait for rewards. */
export function byWeight(actions: readonly AdvisedAction[]): Waiting[] {
  const weight = ({ alarm, cure }: Waiting) => (alarm === true ? 0 : 2) + (cure.isReceiver === true ? 0 : 1);
  return actions
    .map((each) => ({ ...each, cure: cureOf(each.command) }))
    .toSorted((one, other) => weight(one) - weight(other));
}

function sentence(all: readonly AdvisedAction[]): string {
  const alarms = all.filter(({ alarm }) => alarm === true).length;
  const others = all.length - alarms;
  if (all.length === 0) return 'All is well: nothing needs attention.';
  const later = `${others} more can wait`;
  if (alarms > 0)
    return `${alarms === 1 ? '1 thing fails' : `${alarms} things fail`} now${others > 0 ? `; ${later}` : ''}.`;
  return `Nothing fails; ${others === 1 ? '1 thing needs' : `${others} things need`} attention.`;
}

function troubleOf({ what, command, alarm, cure }: Waiting): Html {
  return html`<div>
    <p>${alarm === true && html`<span class="state bad"><span aria-hidden="true">▲</span> fails</span> `}${codeText(what)}.</p>
    <p class="command">${cure.action === undefined ? 'On the machine: ' : ''}<span data-copy><code>${command}</code></span></p>
  </div>`;
}

function cureForms({ cure: { href, page, action } }: Waiting, user: { role: string }): Html {
  return html`<div class="cure"><a class="button" href="${href}">Show ${page}</a>${action !== undefined && actionForm(user, action)}</div>`;
}
