/** A form from a schema: one control for each field, and JSON where it is no form. */
import { choicesOf, type Field, schemaOf, titleOf, typedValue, wordOf } from '../../view/fields.ts';

/** By field: text, or the places of what was chosen. `undefined`: left as it was. */
export type Entered = Readonly<Record<string, string | readonly number[] | undefined>>;

interface FieldsProps {
  /** `null`: it is no form. */
  readonly fields: readonly Field[] | null;
  readonly entered: Entered;
  readonly change: (entered: Entered) => void;
}

/** The one field of an answer that is typed as JSON. */
const JSON_FIELD: Field = { name: 'The answer, as a JSON object', schema: { type: 'object' }, required: true };

export function FormFields({ fields, entered, change }: FieldsProps) {
  return (
    <>
      {(fields ?? [JSON_FIELD]).map((field, index) => (
        <FormField
          key={field.name}
          id={`field-${index}`}
          field={field}
          value={entered[field.name] ?? initial(field)}
          enter={(value) => change({ ...entered, [field.name]: value })}
        />
      ))}
    </>
  );
}

type Value = string | readonly number[];
interface ControlProps {
  readonly id: string;
  readonly field: Field;
  readonly value: Value;
  readonly enter: (value: Value) => void;
}

const YES_NO = [
  { name: 'Yes', value: true },
  { name: 'No', value: false },
];

/** One of these is chosen; empty: it is typed. */
const oneOf = ({ schema }: Field) =>
  schema.type === 'array' ? [] : schema.type === 'boolean' ? YES_NO : choicesOf(schema);
/** Several of these are chosen. */
const someOf = ({ schema }: Field) => (schema.type === 'array' ? choicesOf(schemaOf(schema.items)) : []);

/** What the schema proposes. */
function initial(field: Field): Value {
  const { default: proposed } = field.schema;
  const same = (value: unknown) => (other: { readonly value: unknown }) => other.value === value;
  if (someOf(field).length > 0) {
    const chosen = Array.isArray(proposed) ? proposed : [];
    return chosen.map((each) => someOf(field).findIndex(same(each))).filter((place) => place >= 0);
  }
  if (oneOf(field).length > 0) {
    const place = oneOf(field).findIndex(same(proposed));
    return place < 0 ? [] : [place];
  }
  return proposed === undefined ? '' : wordOf(proposed);
}

function FormField(props: ControlProps) {
  const { id, field } = props;
  const { title, description } = titleOf(field);
  const several = someOf(field);
  const label = (
    <>
      <bdi>{title}</bdi>
      {field.required ? null : <span class="optional"> (optional)</span>}
    </>
  );
  const about =
    description === '' ? null : (
      <p class="about" id={`${id}-about`}>
        <bdi>{description}</bdi>
      </p>
    );
  if (several.length > 0) {
    return (
      <fieldset class="field">
        <legend>{label}</legend>
        {about}
        <Several {...props} />
      </fieldset>
    );
  }
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {about}
      {oneOf(field).length > 0 ? <One {...props} /> : <Typed {...props} />}
    </div>
  );
}

function Several({ field, value, enter }: ControlProps) {
  const chosen = typeof value === 'string' ? [] : value;
  return (
    <>
      {someOf(field).map(({ name }, place) => (
        <label class="choice" key={name}>
          <input
            type="checkbox"
            checked={chosen.includes(place)}
            onChange={({ currentTarget }) =>
              enter(
                currentTarget.checked
                  ? [...chosen, place].sort((a, b) => a - b)
                  : chosen.filter((one) => one !== place),
              )
            }
          />
          <bdi>{name}</bdi>
        </label>
      ))}
    </>
  );
}

function One({ id, field, value, enter }: ControlProps) {
  return (
    <select
      id={id}
      required={field.required}
      value={String(typeof value === 'string' ? '' : (value[0] ?? ''))}
      onChange={({ currentTarget }) => enter(currentTarget.value === '' ? [] : [Number(currentTarget.value)])}
    >
      <option value="">{field.required ? 'Choose …' : '(leave it out)'}</option>
      {oneOf(field).map(({ name }, place) => (
        <option key={name} value={String(place)}>
          {name}
        </option>
      ))}
    </select>
  );
}

function Typed({ id, field, value, enter }: ControlProps) {
  const { type, format, maxLength } = field.schema;
  const typed = typeof value === 'string' ? value : '';
  const about = titleOf(field).description === '' ? {} : { 'aria-describedby': `${id}-about` };
  if (type === 'object' || type === 'array' || (type === 'string' && Number(maxLength) > 200)) {
    return (
      <textarea
        {...about}
        id={id}
        rows={4}
        spellcheck={type === 'string'}
        value={typed}
        onInput={({ currentTarget }) => enter(currentTarget.value)}
      />
    );
  }
  const kind = type === 'number' || type === 'integer' ? 'decimal' : format === 'email' ? 'email' : 'text';
  return (
    <input
      {...about}
      id={id}
      inputMode={kind}
      autocomplete="off"
      value={typed}
      onInput={({ currentTarget }) => enter(currentTarget.value)}
    />
  );
}

/** The answer; whether it fits is the approval gate's to say. */
export function replyOf(
  fields: readonly Field[] | null,
  entered: Entered,
): { readonly action: 'accept'; readonly content: unknown } | { readonly problem: string } {
  if (fields === null) {
    const typed = entered[JSON_FIELD.name];
    try {
      return { action: 'accept', content: JSON.parse(typeof typed === 'string' ? typed : '') };
    } catch {
      return { problem: 'the answer is not JSON' };
    }
  }
  const content: [string, unknown][] = [];
  for (const field of fields) {
    const value = valueGiven(field, entered[field.name] ?? initial(field));
    if (typeof value === 'number' && !Number.isFinite(value)) {
      return { problem: `${titleOf(field).title}: that is not a number` };
    }
    if (value !== undefined) content.push([field.name, value]);
  }
  return { action: 'accept', content: Object.fromEntries(content) };
}

/** `undefined`: it is left out. */
function valueGiven(field: Field, value: Value): unknown {
  if (typeof value === 'string') return value === '' && !field.required ? undefined : typedValue(field, value);
  const several = someOf(field);
  if (several.length > 0) {
    return value.length === 0 && !field.required ? undefined : value.map((place) => several[place]?.value);
  }
  return value[0] === undefined ? undefined : oneOf(field)[value[0]]?.value;
}
