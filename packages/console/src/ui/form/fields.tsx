// The fields of a form: one for each value of the schema, nested.

import type { Schema } from '@perdure/protocol/json-schema'
import { useId, useRef, useState } from 'react'
import { Button } from '../button.tsx'
import { type JsonNode, memberOf } from '../json/parse.ts'
import { shortName } from '../visible-text.ts'
import { type Field, fieldOf } from './field.ts'
import { ChoiceField, type FieldProps, JsonField, Label, NumberField, TextField, useNotes } from './field-box.tsx'
import css from './form.module.css'
import { isWithin, type Path, useForm } from './form-state.ts'
import { canShow, firstValue, isNull, moved, NULL, othersOf, withMember, withOthers } from './value.ts'

export interface AnyFieldProps {
  schema: Schema
  path: Path
  label: string
  node: JsonNode | undefined
  isRequired: boolean
  isMember: boolean
  onChange(node: JsonNode | undefined): void
}

/** The field of a value. Whether it is JSON is decided once, because it must not change while the user types. */
export function AnyField(props: AnyFieldProps) {
  const { schema, path, node } = props
  const { root, faults } = useForm()
  const field = fieldOf(schema, root, path.length)
  const [isJson] = useState(field.kind === 'json' || !canShow(field, node))
  const sentences = faults.filter(fault => isWithin(fault.path, path)).map(({ sentence }) => sentence)
  if (isJson || field.kind === 'json')
    return <JsonField {...props} field={field} sentences={sentences} place={path.join('\n')} />
  if (field.kind === 'text') return <TextField {...props} field={field} sentences={sentences} />
  if (field.kind === 'number') return <NumberField {...props} field={field} sentences={sentences} />
  if (field.kind === 'choice') return <ChoiceField {...props} field={field} sentences={sentences} />
  return <Part {...props} field={field} />
}

type PartField = Extract<Field, { kind: 'object' | 'list' }>

/** An object or a list with its label, or a button that adds it if it is absent. */
function Part(props: AnyFieldProps & { field: PartField }) {
  const { field, schema, path, label, node, isRequired, isMember, onChange } = props
  const { root, faults, hasRoom } = useForm()
  const shown = field.kind === 'object' ? new Set<string | number>(field.members.map(({ name }) => name)) : undefined
  const own = faults.filter(fault => {
    const key = fault.path[path.length]
    const isInside = key !== undefined && (shown ? shown.has(key) || othersHave(node, key) : true)
    return isWithin(fault.path, path) && !(isInside && node !== undefined)
  })
  const notes = useNotes(
    field,
    own.map(({ sentence }) => sentence),
  )
  const legend = useId()
  const group = useRef<HTMLDivElement>(null)
  const isPresent = node !== undefined && !isNull(node)
  const isRoot = path.length === 0
  // The pressed button disappears.
  const change = (value: JsonNode | undefined) => {
    onChange(value)
    group.current?.focus()
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset has a layout of its own.
    <div
      ref={group}
      role="group"
      aria-labelledby={legend}
      aria-describedby={notes.describedBy}
      className={isRoot ? css.root : css.part}
      data-fault={(notes.isFaulty && isPresent) || undefined}
      tabIndex={-1}
      onBlur={notes.touch}
    >
      <div className={isRoot && isPresent ? 'visually-hidden' : css.head}>
        <span id={legend}>
          <Label label={label} title={field.title} isRequired={isRequired} />
        </span>
        {isNull(node) && <code>null</code>}
        {!isPresent && (
          <Button
            aria-label={`Add ${shortName(label)}`}
            aria-describedby={notes.describedBy}
            data-fault={notes.isFaulty || undefined}
            disabledBecause={hasRoom ? undefined : NO_ROOM}
            onClick={() => change(firstValue(schema, root, path.length))}
          >
            Add
          </Button>
        )}
        {field.isNullable && !isNull(node) && (
          <Button aria-label={`Set ${shortName(label)} to null`} onClick={() => change(NULL)}>
            Set to null
          </Button>
        )}
        {isMember && !isRequired && node !== undefined && (
          <Button aria-label={`Leave out ${shortName(label)}`} onClick={() => change(undefined)}>
            Leave out
          </Button>
        )}
      </div>
      {notes.texts}
      {isPresent && field.kind === 'object' && <Members {...props} field={field} node={node} />}
      {isPresent && field.kind === 'list' && node.kind === 'array' && <Items {...props} field={field} node={node} />}
    </div>
  )
}

const NO_ROOM = 'the form has as many fields as it can show: edit it as JSON'

const othersHave = (node: JsonNode | undefined, key: string | number) =>
  node?.kind === 'object' && node.members.some(member => member.key === key)

interface ContentProps<Kind extends 'object' | 'list'> extends Pick<AnyFieldProps, 'path' | 'onChange' | 'label'> {
  field: FieldProps<Kind>['field']
}

function Members({ field, path, node, onChange }: ContentProps<'object'> & { node: JsonNode }) {
  const { faults } = useForm()
  const { members, hasOthers } = field
  const others = othersOf(node, members)
  const [showsOthers] = useState(hasOthers || others !== undefined)
  const ofOthers = faults.filter(({ path: at }) => {
    const key = at[path.length]
    return (
      isWithin(at, path) && key !== undefined && !members.some(({ name }) => name === key) && othersHave(others, key)
    )
  })
  return (
    <div className={css.members}>
      {members.map(({ name, schema, isRequired }) => (
        <AnyField
          key={name}
          schema={schema}
          path={[...path, name]}
          label={name}
          node={memberOf(node, name)}
          isRequired={isRequired}
          isMember
          onChange={value => onChange(withMember(node, name, { value, order: members }))}
        />
      ))}
      {showsOthers && (
        <JsonField
          field={OTHERS}
          label="Other members"
          isObject
          node={others}
          isRequired={false}
          isMember
          sentences={ofOthers.map(({ sentence }) => sentence)}
          place={[...path, 'others'].join('\n')}
          onChange={value => onChange(withOthers(node, members, value))}
        />
      )}
    </div>
  )
}

const OTHERS: Field = {
  kind: 'json',
  title: undefined,
  description: 'Members not in the schema, as a JSON object',
  hints: [],
  isNullable: false,
}

function Items({ field, path, label, node, onChange }: ContentProps<'list'> & { node: JsonNode & { kind: 'array' } }) {
  const { root, hasRoom } = useForm()
  const list = useRef<HTMLDivElement>(null)
  const next = useRef(node.items.length)
  const [keys, setKeys] = useState(() => node.items.map((_, i) => i))
  const change = (items: JsonNode[], changed: number[]) => {
    setKeys(changed)
    onChange({ kind: 'array', items })
  }
  const { items } = node
  const add = () => change([...items, firstValue(field.items, root, path.length + 1)], [...keys, next.current++])
  const move = (from: number, to: number) => change(moved(items, from, to), moved(keys, from, to))
  const remove = (at: number) => {
    change(
      items.filter((_, i) => i !== at),
      keys.filter((_, i) => i !== at),
    )
    list.current?.querySelector<HTMLElement>(':scope > button')?.focus()
  }
  return (
    <div ref={list} className={css.items}>
      {items.map((item, i) => (
        <div key={keys[i]} className={css.item}>
          <AnyField
            schema={field.items}
            path={[...path, i]}
            label={`Item ${i + 1}`}
            node={item}
            isRequired={false}
            isMember={false}
            onChange={value =>
              onChange({ kind: 'array', items: items.map((one, k) => (k === i ? (value ?? NULL) : one)) })
            }
          />
          <div className={css.itemButtons}>
            <ItemButton
              of={label}
              at={i}
              what="up"
              disabledBecause={i === 0 ? 'it is the first' : undefined}
              onClick={() => move(i, i - 1)}
            />
            <ItemButton
              of={label}
              at={i}
              what="down"
              disabledBecause={i === items.length - 1 ? 'it is the last' : undefined}
              onClick={() => move(i, i + 1)}
            />
            <Button
              kind="bare"
              aria-label={`Remove item ${i + 1} of ${shortName(label)}`}
              title="Remove"
              onClick={() => remove(i)}
            >
              ✕
            </Button>
          </div>
        </div>
      ))}
      <Button
        aria-label={`Add an item to ${shortName(label)}`}
        disabledBecause={hasRoom ? undefined : NO_ROOM}
        onClick={add}
      >
        Add an item
      </Button>
    </div>
  )
}

interface ItemButtonProps {
  of: string
  at: number
  what: 'up' | 'down'
  disabledBecause: string | undefined
  onClick(): void
}

function ItemButton({ of, at, what, ...rest }: ItemButtonProps) {
  return (
    <Button kind="bare" aria-label={`Move item ${at + 1} of ${shortName(of)} ${what}`} title={`Move ${what}`} {...rest}>
      {what === 'up' ? '↑' : '↓'}
    </Button>
  )
}
