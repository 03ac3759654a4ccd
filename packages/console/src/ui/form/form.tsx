// A form for a JSON text, based on its schema. The text is the value: each change writes it again, with numbers as they were
// typed.

import type { Schema, ValueFault } from '@perdure/protocol/json-schema'
import { useState } from 'react'
import type { JsonNode } from '../json/parse.ts'
import { printJson } from '../json/print.ts'
import { AnyField } from './fields.tsx'
import { FormContext } from './form-state.ts'
import { countFields, FIELDS_MAX, nodeIn } from './value.ts'

export interface FormProps {
  schema: Schema
  /** The initial text; later changes of it are ignored. */
  text: string
  label: string
  faults: readonly ValueFault[]
  isAsked: boolean
  broken: Set<string>
  onChange(text: string): void
}

export function Form({ schema, text, label, faults, isAsked, broken, onChange }: FormProps) {
  const [node, setNode] = useState(() => nodeIn(text))
  const change = (value: JsonNode | undefined) => {
    setNode(value)
    onChange(value === undefined ? '' : printJson(value))
  }
  const hasRoom = countFields({ schema, root: schema, depth: 0 }, node) < FIELDS_MAX
  return (
    <FormContext value={{ root: schema, faults, isAsked, hasRoom, broken }}>
      <AnyField
        schema={schema}
        path={[]}
        label={label}
        node={node}
        isRequired={false}
        isMember={false}
        onChange={change}
      />
    </FormContext>
  )
}
