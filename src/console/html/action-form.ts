import { html, nothing, type Html } from '../../kit/html/html.ts';

/** A field of a form that leads to a preview. */
export interface ActionField {
  /** The action's parameter. */
  name: string;
  title: string;
  value?: string | undefined;
  /** `check` sends `yes` where it is ticked. Default: text. */
  kind?: 'text' | 'date' | 'check';
  required?: boolean;
}

export interface ActionForm {
  /** The action's name, such as `accept-export`. */
  action: string;
  /** The action in words, such as `Accept it`; the button adds that a preview comes first. */
  title: string;
  /** Parameters that the page knows; undefined ones are left out. */
  values?: Readonly<Record<string, string | undefined>>;
  fields?: readonly ActionField[];
}

/**
 * A form that leads to the preview of an action and changes nothing itself. A viewer sees none.
 *
 * @param user The reader of the page.
 */
export function actionForm(user: { role: string }, { action, title, values = {}, fields = [] }: ActionForm): Html {
  if (user.role !== 'operator') return nothing;
  return html`<form class="action" method="post" action="/actions/${action}/preview">
    ${hiddenFields(values)}${fields.map(fieldOf)}
    <button>${title}: preview</button>
  </form>`;
}

/** Hidden parameters, one input for each value; empty ones are left out. */
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
