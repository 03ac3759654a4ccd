// The state that all fields of a form share.

import type { Schema, ValueFault } from '@perdure/protocol/json-schema'
import { createContext, useContext } from 'react'

export type Path = readonly (string | number)[]

export interface FormState {
  root: Schema
  faults: readonly ValueFault[]
  /** Also show the faults of fields that nobody has touched. */
  isAsked: boolean
  /** Whether the form may have more fields. */
  hasRoom: boolean
  /** Paths whose text is not JSON. */
  broken: Set<string>
}

export const FormContext = createContext<FormState | undefined>(undefined)

export function useForm(): FormState {
  const state = useContext(FormContext)
  if (!state) throw new Error('a field is outside of its form')
  return state
}

/** Whether the place is this one or inside it. */
export const isWithin = (place: Path, path: Path): boolean => path.every((key, i) => place[i] === key)
