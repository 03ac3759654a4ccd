// The JSON Schema of a workflow's input (docs/schemas.md#the-schema-at-the-engine). It is checked at registration, and then
// used to check the input of a direct start. Called by registration.ts, by services/run/start, by the tools of assistants and
// by the command line.

import type { WorkflowRegistration } from '@perdure/protocol'
import { type JsonSchemaObject, SchemaTooComplex, schemaFault, schemaFaults } from '@perdure/protocol/json-schema'
import { literalPattern, MATCHED_CHARS_MAX, type Pattern } from '../expressions/pattern.ts'
import { EngineError, invalid } from '../model/errors.ts'
import type { Workflow } from '../model/workflow.ts'
import type { JsonText } from '../text/json-text.ts'

/** Maximum size of all patterns of a schema, in instructions. The check ends at the pattern that exceeds it. */
const PATTERNS_SIZE_MAX = 2000
/** Maximum compiled patterns that are kept. */
const KEPT_PATTERNS_MAX = 200

/** The schema of a registration. Throws `invalid_request` naming the place of a fault. */
export function inputSchemaOf({ input, tool }: WorkflowRegistration, field: string): JsonSchemaObject | undefined {
  if (input === undefined) {
    if (tool) throw invalid(`${field}.tool`, 'needs input: the schema of its arguments')
    return undefined
  }
  let size = 0
  const fault = schemaFault(input, pattern => {
    try {
      size += patternOf(pattern).size
    } catch (error) {
      return (error as Error).message
    }
    return size > PATTERNS_SIZE_MAX
      ? `makes the patterns of the schema larger than ${PATTERNS_SIZE_MAX} instructions`
      : undefined
  })
  if (fault) throw invalid(`${field}.input${fault.path}`, fault.problem)
  if (tool && input.type !== 'object')
    throw invalid(`${field}.input.type`, 'must be object, because the workflow is a tool')
  return input as JsonSchemaObject
}

/** Throws `invalid_request` with the problem if the workflow has a schema that refuses the input. */
export function validateInput({ input: schema }: Pick<Workflow, 'input'>, input: JsonText | undefined): void {
  if (schema === undefined) return
  const faults = inputFaults(schema, input === undefined ? undefined : JSON.parse(input))
  if (faults.length === 0) return
  throw new EngineError('invalid_request', faults.join('; '), { details: { field: 'input', faults } })
}

/** The faults of an input, which may be `undefined`; each is a sentence that begins with the path. Empty: the input is valid. */
export function inputFaults(schema: JsonSchemaObject, value: unknown): string[] {
  if (value === undefined) return ['input is required: the workflow has a schema for it']
  try {
    return schemaFaults(schema, value, { name: 'input', matches })
  } catch (error) {
    if (error instanceof SchemaTooComplex) return [`input ${error.message}`]
    throw error
  }
}

function matches(pattern: string, text: string): boolean {
  return text.length <= MATCHED_CHARS_MAX && patternOf(pattern).test(text)
}

const patterns = new Map<string, Pattern>()

/** Compiles a pattern, and keeps it while few others are used. */
function patternOf(source: string): Pattern {
  const pattern = patterns.get(source) ?? literalPattern(source)
  patterns.delete(source)
  patterns.set(source, pattern)
  const [oldest] = patterns.keys()
  if (patterns.size > KEPT_PATTERNS_MAX && oldest !== undefined) patterns.delete(oldest)
  return pattern
}
