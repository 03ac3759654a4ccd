// Refuses unknown options by name, with the nearest known one: a misspelt option would silently have no effect. Called by
// `createWorkflow`, `createClient`, the step tools, `testEngine` and every adapter.

import { hintFor, quoteName } from '@perdure/protocol/portable'
import { NAMES_ELSEWHERE } from './names-elsewhere.ts'

/** The names of the options of a type. The type demands each of them, so that a new option cannot be forgotten. */
export type OptionNames<Options> = Readonly<Record<keyof Required<Options>, true>>

/** Throws a TypeError for an option that is not in `known`. An option that is undefined counts as absent. */
export function refuseUnknownOptions(what: string, options: object, known: object): void {
  const problem = unknownOption(what, options, known)
  if (problem !== undefined) throw new TypeError(problem)
}

/** Returns a sentence about the first option that is not in `known`, or about options that are not an object. */
export function unknownOption(what: string, options: unknown, known: object): string | undefined {
  if (typeof options !== 'object' || options === null) return `${what} takes an object of options`
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(known, name)) continue
    // Bundles for browsers leave out the search for a similar name.
    if (globalThis.process === undefined) return `${what} has no option ${quoteName(name)}`
    const elsewhere = Object.hasOwn(NAMES_ELSEWHERE, name) ? NAMES_ELSEWHERE[name] : undefined
    const meant = elsewhere?.find(one => Object.hasOwn(known, one))
    const hint = meant === undefined ? hintFor(name, Object.keys(known)) : `; did you mean "${meant}"?`
    return `${what} has no option ${quoteName(name)}${hint}`
  }
  return undefined
}
