import { html, nothing, type Html } from './html.ts';

/** What a form asks for before an action is previewed. */
export interface ActionField {
  /** The action's parameter. */
  name: string;
  title: string;
  value?: string | undefined;
  /** `check`: sent as `yes` where it is ticked. Default: text. */
  kind?: 'text' | 'date' | 'check';
  required?: boolean;
}

export interface ActionForm {
  /** The action's name, such as `accept-export`. */
  action: string;
  /** What is done in the end, such as `Accept it`; the button says that a preview comes first. */
  title: string;
  /** Parameters that the page itself knows; those that are undefined are left out. */
  values?: Readonly<Record<string, string | undefined>>;
  fields?: readonly ActionField[];
}

/**
 * A form that leads to the preview of an action; by itself it changes nothing. Who may only look sees none.
 *
 * @param user Who looks at the page.
 */
export function actionForm(user: { role: string }, { action, title, values = {}, fields = [] }: ActionForm): Html {
  if (user.role !== 'operator') return nothing;
  return html`<form class="action" method="post" action="/actions/${action}/preview">
    ${hiddenFields(values)}${fields.map(fieldOf)}
    <button>${title}: preview</button>
  </form>`;
}

/** Parameters that go along unseen, each as often as it has values; empty ones are left out. */
export function hiddenFields(values: Readonly<Record<string, string | readonly string[] | undefined>>): Html {
  const pairs = Object.entries(values).flatMap(([name, value = []]) =>
    (typeof value === 'string' ? [value] : value).filter((each) => each !== '').map((each) => ({ name, value: each })),
  );
  return html`${pairs.map(({ name, value }) => html`<input type="hidden" name="${name}" value="${value}" />`)}`;
}

function fieldOf({ name, title, value = '', kind = 'text', required }: ActionField): Html {
  if (kind === 'check') return html`<label><input type="checkbox" name="${name}" value="yes" /> ${title}</label> `;
  return html`<label
    >${title} <input type="${kind}" name="${name}" value="${value}" maxlength="200" ${required === true && html`required`}
  /></label> `;
}
