// A row of filters that are kept in the URL: texts, applied with Enter, choices, and a time range.

import { type ReactNode, useEffect, useId, useRef } from 'react'
import { timeText } from '../data/time/time-text.ts'
import { useKeys } from '../keys/keys.ts'
import css from './filter-bar.module.css'

export interface FilterField {
  name: string
  label: string
  value: string | undefined
  onChange(value: string | undefined): void
  /** The choices; without them the field is a text. The empty choice means "any". */
  choices?: readonly string[]
  /** The counts shown next to choices. */
  counts?: Readonly<Record<string, number | string>> | undefined
  /** There is no empty choice: one of them always applies. */
  isRequired?: boolean
  /** A custom control, which has a name and sets the filter itself. */
  control?: ReactNode
  /** Completions of a text. */
  known?: readonly string[]
}

/** The key f goes to the first field. */
export function FilterBar({ label, fields }: { label: string; fields: readonly FilterField[] }) {
  const bar = useRef<HTMLElement>(null)
  useKeys(label, [
    { keys: 'f', label: 'Filter', run: () => bar.current?.querySelector<HTMLElement>('input, select')?.focus() },
  ])
  return (
    <search ref={bar} className={css.bar} aria-label={label}>
      {fields.map((field, i) => {
        const title = i === 0 ? 'Filter (f)' : undefined
        if (field.control)
          return (
            <div key={field.name} className={css.control}>
              {field.control}
            </div>
          )
        return field.choices ? (
          <Choice key={field.name} {...field} title={title} />
        ) : (
          <Text key={field.name} {...field} title={title} />
        )
      })}
    </search>
  )
}

interface ControlProps extends FilterField {
  title: string | undefined
}

function Choice({ label, title, value = '', choices = [], counts = {}, isRequired = false, onChange }: ControlProps) {
  return (
    <label className={css.field}>
      <span>{label}</span>
      <select title={title} value={value} onChange={event => onChange(event.target.value || undefined)}>
        {!isRequired && <option value="">any</option>}
        {/* Keeps a value that came with a link, such as a time. */}
        {value !== '' && !choices.includes(value) && <option value={value}>{timeText(value)}</option>}
        {choices.map(choice => (
          <option key={choice} value={choice}>
            {counts[choice] === undefined ? choice : `${choice} (${counts[choice]})`}
          </option>
        ))}
      </select>
    </label>
  )
}

function Text({ label, title, value = '', known = [], onChange }: ControlProps) {
  const input = useRef<HTMLInputElement>(null)
  const list = useId()
  useEffect(() => {
    if (input.current) input.current.value = value
  }, [value])
  const apply = () => {
    const text = input.current?.value.trim() ?? ''
    if (text !== value) onChange(text || undefined)
  }
  return (
    <label className={css.field}>
      <span>{label}</span>
      <input
        ref={input}
        title={title}
        defaultValue={value}
        list={known.length > 0 ? list : undefined}
        spellCheck={false}
        autoComplete="off"
        onBlur={apply}
        onKeyDown={event => event.key === 'Enter' && apply()}
      />
      {known.length > 0 && (
        <datalist id={list}>
          {known.map(each => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
    </label>
  )
}
