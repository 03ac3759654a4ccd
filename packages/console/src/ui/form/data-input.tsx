// The input of data that a schema describes: a form, or JSON text; a switch changes between them, and both edit the same text.
// Loaded when a dialog or page needs it.

import type { Schema, ValueFault } from '@perdure/protocol/json-schema'
import { lazy, type Ref, Suspense, useEffect, useImperativeHandle, useMemo, useRef, useState } from 'react'
import { sourceOf } from '../../data/json/parse.ts'
import { Button } from '../button.tsx'
import { printJson } from '../json/print.ts'
import { Polite } from '../overlay/polite.tsx'
import { Waiting } from '../states/loaded.tsx'
import css from './form.module.css'
import { Form } from './form.tsx'
import { useFaults } from './use-faults.ts'
import { firstValue, whyNoForm } from './value.ts'

const JsonEditor = lazy(() => import('../editor/json-editor.tsx'))

/** Functions that act on the input from outside. */
export interface DataInputHandle {
  /** Returns whether the data may be sent. If a field of the form has a fault, shows all faults and goes to the first. */
  isReady(): Promise<boolean>
}

export interface DataInputProps {
  schema: object
  text: string
  label: string
  /** The name of the whole value in sentences about faults. */
  name: string
  /** Set if faults do not prevent anything: explains what they mean. */
  warning?: string | undefined
  /** Nobody has typed anything yet: fill in the defaults of the schema. */
  isNew?: boolean
  ref?: Ref<DataInputHandle>
  onChange(text: string): void
}

export default function DataInput({
  schema,
  text: given,
  label,
  name,
  warning,
  isNew = false,
  ref,
  onChange,
}: DataInputProps) {
  const text = useFilledIn({ schema, text: given, isNew, onChange })
  const source = useMemo(() => sourceOf(schema), [schema])
  const { verdict, check } = useFaults({ schema: source, name, text })
  const noForm = useMemo(() => whyNoForm(schema as Schema, text), [schema, text])
  const [isForm, setForm] = useState(noForm === undefined)
  const [asked, setAsked] = useState(0)
  const box = useRef<HTMLDivElement>(null)
  const broken = useRef(new Set<string>())
  useImperativeHandle(ref, () => ({
    isReady: async () => {
      const { faults = [] } = await check(text)
      const isFaulty = faults.length > 0 || broken.current.size > 0
      if (isFaulty) setAsked(times => times + 1)
      // The engine decides about JSON: it matches patterns in its own way.
      return !(isForm && isFaulty)
    },
  }))
  useEffect(() => {
    if (asked > 0) box.current?.querySelector<HTMLElement>('[data-fault]')?.focus()
  }, [asked])
  const show = (form: boolean) => {
    broken.current.clear()
    setForm(form)
  }
  return (
    <div ref={box} className={css.input} data-warning={warning !== undefined || undefined}>
      <Switch label={label} isForm={isForm} noForm={noForm} onShow={show} />
      {isForm ? (
        <Form
          schema={schema as Schema}
          text={text}
          label={label}
          faults={verdict?.faults ?? []}
          isAsked={asked > 0}
          broken={broken.current}
          onChange={onChange}
        />
      ) : (
        <Suspense fallback={<Waiting rows={4} />}>
          <JsonEditor text={text} label={label} onChange={onChange} />
        </Suspense>
      )}
      {verdict && !verdict.faults && <p className={css.help}>{TOO_SLOW}</p>}
      <FaultList
        faults={isForm && warning === undefined ? [] : (verdict?.faults ?? [])}
        warning={warning}
        isListed={!isForm}
      />
    </div>
  )
}

const TOO_SLOW = 'The schema takes too long to check here: the engine checks the data.'

/** Returns the text; for a new input, with the defaults of the schema. */
function useFilledIn(props: { schema: object; text: string; isNew: boolean; onChange(text: string): void }): string {
  const { schema, text, isNew, onChange } = props
  const [first] = useState(() => (isNew ? printJson(firstValue(schema as Schema, schema as Schema)) : text))
  const [isFilledIn, setFilledIn] = useState(first === text)
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, before anything is typed.
  useEffect(() => {
    if (!isFilledIn) onChange(first)
    setFilledIn(true)
  }, [])
  return isFilledIn ? text : first
}

interface SwitchProps {
  label: string
  isForm: boolean
  /** Why no form is possible now. */
  noForm: string | undefined
  onShow(form: boolean): void
}

function Switch({ label, isForm, noForm, onShow }: SwitchProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset has a layout of its own.
    <div role="group" aria-label={`${label}: edit as`} className={css.switch}>
      <Button aria-pressed={isForm} disabledBecause={isForm ? undefined : noForm} onClick={() => onShow(true)}>
        Form
      </Button>
      <Button aria-pressed={!isForm} onClick={() => onShow(false)}>
        JSON
      </Button>
      {isForm && (
        <small className={css.help}>
          <span className={css.required}>*</span> is required
        </small>
      )}
      {!isForm && noForm !== undefined && <small className={css.help}>No form: {noForm}.</small>}
    </div>
  )
}

interface FaultListProps {
  faults: readonly ValueFault[]
  warning: string | undefined
  isListed: boolean
}

/** For JSON text, which has no fields, lists the faults; for a form, only says that there are some. */
function FaultList({ faults, warning, isListed }: FaultListProps) {
  const sentences = faults.map(({ sentence }) => sentence)
  const spoken = sentences.length === 0 ? '' : [warning, ...(isListed ? sentences : [])].filter(Boolean).join(' ')
  return (
    <Polite text={spoken} className={css.faults}>
      {spoken !== '' && warning}
      {isListed && sentences.map(sentence => <span key={sentence}>{sentence}</span>)}
    </Polite>
  )
}
