// The JSON Schema of a workflow's input, if its schema library can produce one (Standard JSON Schema). The engine uses it to
// validate direct starts, and shows it. Called by `createWorkflow`.

import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'

/** Maximum length of a schema that the engine accepts, in characters of its JSON. */
const CHARS_MAX = 32 * 1024
const OPTIONS = { target: 'draft-2020-12', libraryOptions: { unrepresentable: 'any' } } as const
/** Lookarounds and back-references, which the engine's patterns do not support. */
const NOT_LINEAR = /\(\?(?:[=!]|<[=!])|\\[1-9]|\\k</

/** The JSON Schema, or the reason why there is none; both absent if the library gives none. */
export interface DerivedSchema {
  schema?: Record<string, unknown>
  warning?: string
}

/** Derives the JSON Schema of the data that senders give. Never throws. */
export function jsonSchemaOf(workflow: string, input: StandardSchemaV1): DerivedSchema {
  const { jsonSchema } = input['~standard'] as Partial<StandardJSONSchemaV1.Props>
  if (typeof jsonSchema?.input !== 'function') return {}
  const without = (why: string) => ({
    warning: `Workflow "${workflow}" is registered without its input schema: ${why}`,
  })
  try {
    const { $schema: _, ...schema } = withoutPatterns(jsonSchema.input(OPTIONS)) as Record<string, unknown>
    const { length } = JSON.stringify(schema)
    return length > CHARS_MAX ? without(`it has ${length} characters, and ${CHARS_MAX} are allowed`) : { schema }
  } catch (error) {
    return without(error instanceof Error ? error.message : String(error))
  }
}

/**
 * Leaves out patterns that repeat a `format`, and patterns that only a backtracking engine can match. The handler's schema still
 * validates them.
 */
function withoutPatterns(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPatterns)
  if (typeof value !== 'object' || value === null) return value
  const { pattern, ...rest } = value as Record<string, unknown>
  const isLeftOut = typeof pattern === 'string' && ('format' in value || NOT_LINEAR.test(pattern))
  const kept = isLeftOut ? rest : value
  return Object.fromEntries(Object.entries(kept).map(([key, member]) => [key, withoutPatterns(member)]))
}
