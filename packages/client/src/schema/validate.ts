// Validates values with a Standard Schema and describes what is wrong in one bounded line. Called by triggers, step
// tools and the client.

import { cutText } from '@perdure/protocol/portable'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { type DataIssue, InvalidDataError, NonRetriableError } from '../errors/data-errors.ts'

/** Most issues that one error lists, and most characters of each path and message. */
const ISSUES_MAX = 20
const ISSUE_CHARS_MAX = 300

/** Whether a value is a Standard Schema. Some libraries make their schemas functions. */
export function isSchema(value: unknown): value is StandardSchemaV1 {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  const standard = (value as Partial<StandardSchemaV1>)['~standard']
  return typeof standard?.validate === 'function'
}

/** Names the validated value in error messages: `what` as in `The input of workflow "ship"`, `root` as in `data.3`. */
export interface Subject {
  readonly what: string
  readonly root: string
}

/** Returns the schema's output for a value. Rejects with an {@link InvalidDataError} that lists the wrong paths. */
export async function validate(schema: StandardSchemaV1, value: unknown, subject: Subject): Promise<unknown> {
  return outputOf(await schema['~standard'].validate(value), subject)
}

/** Validates without waiting: the order of a run's steps must not depend on timing. Throws for asynchronous schemas. */
export function validateSync(schema: StandardSchemaV1, value: unknown, subject: Subject): unknown {
  const result = schema['~standard'].validate(value)
  if (!('then' in result)) return outputOf(result, subject)
  result.then(undefined, () => undefined)
  throw new NonRetriableError(
    `${subject.what} cannot be validated: its schema is asynchronous, which only a workflow's input may be`,
  )
}

/** Returns the value after a JSON round trip, as a receiver sees it. Leaves a value without JSON to the encoder. */
export function asReceived(value: unknown): unknown {
  try {
    const text = JSON.stringify(value) as string | undefined
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return value
  }
}

function outputOf(result: StandardSchemaV1.Result<unknown>, { what, root }: Subject): unknown {
  if (!result.issues) return result.value
  const issues = result.issues.slice(0, ISSUES_MAX).map(issue => toIssue(root, issue))
  throw new InvalidDataError(what, issues, result.issues.length)
}

function toIssue(root: string, { path = [], message }: StandardSchemaV1.Issue): DataIssue {
  const keys = path.map(segment => String(typeof segment === 'object' ? segment.key : segment))
  return {
    path: cutText([root, ...keys].join('.'), ISSUE_CHARS_MAX, '...'),
    message: cutText(String(message), ISSUE_CHARS_MAX, '...'),
  }
}
