// Checks a JSON text against a schema, and returns the faults in the engine's own sentences. Pure; a worker calls it, because a
// pattern written by somebody else may take forever in the browser's pattern engine.

import { type Schema, SchemaTooComplex, type ValueFault, valueFaults } from '@perdure/protocol/json-schema'

/** A text to check. */
export interface FaultsJob {
  /** The schema, as JSON. */
  schema: string
  /** The name of the whole value in the sentences. */
  name: string
  text: string
}

/** The engine matches no longer text against a pattern. */
const MATCHED_CHARS_MAX = 16_384

/** Returns the faults; none for a text that is not JSON, which is reported elsewhere. */
export function faultsOf({ schema, name, text }: FaultsJob): ValueFault[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return []
  }
  try {
    return valueFaults(JSON.parse(schema) as Schema, value, { name, matches })
  } catch (error) {
    if (error instanceof SchemaTooComplex) return [{ path: [], sentence: `${name} ${error.message}` }]
    throw error
  }
}

const patterns = new Map<string, RegExp | undefined>()

/** Whether the pattern matches. A pattern that only RE2 reads, such as one with `(?i)`, is left to the engine. */
function matches(pattern: string, text: string): boolean {
  if (text.length > MATCHED_CHARS_MAX) return false
  if (!patterns.has(pattern)) patterns.set(pattern, compiled(pattern))
  return patterns.get(pattern)?.test(text) ?? true
}

function compiled(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, 'u')
  } catch {
    return undefined
  }
}
