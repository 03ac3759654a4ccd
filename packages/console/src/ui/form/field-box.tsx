// The box around the control of a field: its label, a mark if it is required, its description with the limits, its faults. This
// file also has the fields that consist of one control.

import { type ReactNode, useId, useState } from 'react'
import { type JsonNode, parseJson } from '../json/parse.ts'
import { printJson, scalarText } from '../json/print.ts'
import { shortName } from '../visible-text.ts'
import type { Field } from './field.ts'
import css from './form.module.css'
import { useForm } from './form-state.ts'
import { isNull, isSame, NULL } from './value.ts'

export interface FieldProps<Kind extends Field['kind'] = Field['kind']> {
  field: Extract<Field, { kind: Kind }>
  /** The name of the member, or "Item 2". */
  label: string
  node: JsonNode | undefined
  isRequired: boolean
  /** Whether it may be left out. */
  isMember: boolean
  /** Its faults. */
  sentences: readonly string[]
  onChange(node: JsonNode | undefined): void
}

/** The attributes of a control that link it to its label, description and faults. */
interface ControlProps {
  id: string
  'aria-describedby': string | undefined
  'aria-invalid': true | undefined
  'aria-required': true | undefined
  'data-fault': true | undefined
  onBlur(): void
}

type BoxProps = Omit<FieldProps, 'node' | 'onChange' | 'isMember'> & {
  beside?: ReactNode
  children(control: ControlProps): ReactNode
}

export function FieldBox({ field, label, isRequired, sentences, beside, children }: BoxProps) {
  const id = useId()
  const notes = useNotes(field, sentences)
  return (
    <div className={css.field}>
      <div className={css.head}>
        <label htmlFor={id}>
          <Label label={label} title={field.title} isRequired={isRequired} />
        </label>
        {beside}
      </div>
      {children({
        id,
        'aria-describedby': notes.describedBy,
        'aria-invalid': notes.isFaulty || undefined,
        'aria-required': isRequired || undefined,
        'data-fault': notes.isFaulty || undefined,
        onBlur: notes.touch,
      })}
      {notes.texts}
    </div>
  )
}

export function Label({ label, title, isRequired }: { label: string; title: string | undefined; isRequired: boolean }) {
  return (
    <>
      {title === undefined ? shortName(label) : shortName(title)}
      {isRequired && (
        <span className={css.required} aria-hidden="true">
          {' '}
          *
        </span>
      )}
      {title !== undefined && title !== label && <code className={css.name}>{shortName(label)}</code>}
    </>
  )
}

/** Returns the description of a field and its faults. Faults are shown once the field was left, or the form was checked. */
export function useNotes({ description, hints }: Field, sentences: readonly string[]) {
  const { isAsked } = useForm()
  const [isTouched, setTouched] = useState(false)
  const id = useId()
  const bounds = hints.join(', ')
  const help = [description ?? '', bounds.charAt(0).toUpperCase() + bounds.slice(1)].filter(text => text !== '')
  const isFaulty = (isAsked || isTouched) && sentences.length > 0
  const ids = [help.length > 0 ? `${id}-help` : '', isFaulty ? `${id}-fault` : ''].filter(one => one !== '')
  const texts = (
    <>
      {help.length > 0 && (
        <p id={`${id}-help`} className={css.help}>
          {help.join(' · ')}
        </p>
      )}
      {isFaulty && (
        <p id={`${id}-fault`} className={css.fault}>
          {sentences.join('; ')}
        </p>
      )}
    </>
  )
  return { isFaulty, describedBy: ids.length === 0 ? undefined : ids.join(' '), touch: () => setTouched(true), texts }
}

/** A box that sets the value to null. */
function NullBox({ field, label, node, isMember, onChange }: FieldProps) {
  if (!field.isNullable) return null
  const empty: JsonNode | undefined = isMember ? undefined : { kind: 'string', value: '' }
  return (
    <label className={css.null}>
      <input
        type="checkbox"
        aria-label={`${shortName(label)} is null`}
        checked={isNull(node)}
        onChange={event => onChange(event.target.checked ? NULL : empty)}
      />{' '}
      null
    </label>
  )
}

const PLACEHOLDERS: Readonly<Record<string, string>> = {
  date: '2026-01-31',
  'date-time': '2026-01-31T12:00:00Z',
  time: '12:00:00Z',
  uri: 'https://…',
}
const INPUT_MODES: Readonly<Record<string, 'email' | 'url'>> = { email: 'email', uri: 'url' }

export function TextField(props: FieldProps<'text'>) {
  const { field, node, isMember, onChange } = props
  const { format = '' } = field
  const text = node?.kind === 'string' ? node.value : ''
  // A field of one line would lose the line breaks.
  const [isLong] = useState(field.isLong || text.includes('\n'))
  const set = (value: string) => onChange(value === '' && isMember ? undefined : { kind: 'string', value })
  return (
    <FieldBox {...props} beside={<NullBox {...props} />}>
      {control =>
        isLong ? (
          <textarea {...control} rows={4} value={text} onChange={event => set(event.target.value)} />
        ) : (
          <input
            {...control}
            value={text}
            autoComplete="off"
            spellCheck={false}
            inputMode={INPUT_MODES[format]}
            placeholder={isNull(node) ? 'null' : PLACEHOLDERS[format]}
            onChange={event => set(event.target.value)}
          />
        )
      }
    </FieldBox>
  )
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** A number as it is typed, to the last digit. Any other text stays a text, which the schema refuses. */
export function NumberField(props: FieldProps<'number'>) {
  const { node, isMember, onChange } = props
  const set = (typed: string) => {
    const source = typed.trim()
    if (source === '') onChange(isMember ? undefined : NULL)
    else onChange(NUMBER.test(source) ? { kind: 'number', source } : { kind: 'string', value: typed })
  }
  const text = node?.kind === 'string' ? node.value : node?.kind === 'number' ? node.source : ''
  return (
    <FieldBox {...props} beside={<NullBox {...props} />}>
      {control => (
        <input
          {...control}
          className={css.number}
          inputMode="decimal"
          autoComplete="off"
          value={text}
          onChange={event => set(event.target.value)}
        />
      )}
    </FieldBox>
  )
}

export function ChoiceField(props: FieldProps<'choice'>) {
  const { field, node, isMember, onChange } = props
  const nulls = field.isNullable && !field.options.some(isNull) ? [NULL] : []
  const options = [...field.options, ...nulls]
  const chosen = node && options.findIndex(option => isSame(option, node))
  const isForeign = chosen === -1
  const set = (value: string) => {
    if (value === '') onChange(isMember ? undefined : NULL)
    else if (value !== 'other') onChange(options[Number(value)])
  }
  return (
    <FieldBox {...props}>
      {control => (
        <select {...control} value={isForeign ? 'other' : (chosen ?? '')} onChange={event => set(event.target.value)}>
          <option value="">not set</option>
          {isForeign && node && <option value="other">{optionText(node)}</option>}
          {options.map((option, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: an option is its place in the schema.
            <option key={i} value={i}>
              {optionText(option)}
            </option>
          ))}
        </select>
      )}
    </FieldBox>
  )
}

function optionText(node: JsonNode): string {
  if (node.kind === 'string' && node.value !== '') return shortName(node.value)
  return shortName(node.kind === 'object' || node.kind === 'array' ? printJson(node, false) : scalarText(node))
}

export interface JsonFieldProps extends Omit<FieldProps, 'field'> {
  field: Field
  /** The path in the value, for the list of invalid places. */
  place: string
  /** It contains members of an object, and nothing else. */
  isObject?: boolean
}

/**
 * A value as JSON text. A text that is not JSON stays in the value as it is typed, so that nothing is lost; members of an object
 * keep their last value.
 */
export function JsonField(props: JsonFieldProps) {
  const { node, isMember, isObject = false, place, sentences, onChange } = props
  const { broken } = useForm()
  const [text, setText] = useState(node ? printJson(node) : '')
  const faultOf = (typed: string) => {
    const value = nodeIn(typed)
    if (typed.trim() === '' || (value && !(isObject && value.kind !== 'object'))) return undefined
    return value ? 'This must be a JSON object' : 'This is not JSON'
  }
  const set = (typed: string) => {
    setText(typed)
    if (faultOf(typed) === undefined) {
      broken.delete(place)
      onChange(nodeIn(typed) ?? (isMember ? undefined : NULL))
      return
    }
    broken.add(place)
    if (!isObject) onChange({ kind: 'literal', source: typed })
  }
  const fault = faultOf(text)
  return (
    <FieldBox {...props} sentences={fault === undefined ? sentences : [fault]} beside={<small>JSON</small>}>
      {control => (
        <textarea
          {...control}
          className={css.json}
          spellCheck={false}
          rows={Math.min(12, Math.max(2, text.split('\n').length))}
          value={text}
          onChange={event => set(event.target.value)}
        />
      )}
    </FieldBox>
  )
}

function nodeIn(text: string): JsonNode | undefined {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}
