// Checks values against the schemas of operations.

import { Compile, Errors } from 'typebox/schema'
import { expect } from 'vitest'

/** The schema, closed to unknown fields. */
function closed(schema: unknown): Record<string, unknown> {
  const inner = JSON.parse(JSON.stringify(schema), (_, part) =>
    part?.type === 'object' && part.properties ? { ...part, additionalProperties: false } : part,
  )
  return inner as Record<string, unknown>
}

const CHECKED = new WeakMap<object, ReturnType<typeof Compile>>()

/** Checks the value against the schema, without allowing members that the schema does not name. */
export function expectToFit(value: unknown, schema: unknown, what: string): void {
  let checked = CHECKED.get(schema as object)
  if (!checked) {
    checked = Compile(closed(schema))
    CHECKED.set(schema as object, checked)
  }
  if (checked.Check(value)) return
  const [, errors] = Errors(closed(schema), value)
  expect.fail(`${what}: ${JSON.stringify({ errors, value })}`)
}
