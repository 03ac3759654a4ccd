// Errors of values: an error that a retry cannot fix, and data that a schema refuses.

import { matchByBrand } from './brand.ts'

const nonRetriable: unique symbol = Symbol.for('perdure.non-retriable') as never
const invalidData: unique symbol = Symbol.for('perdure.invalid-data') as never

/** Thrown in a step, it fails the step without a further attempt. Thrown in a handler, it fails the run. */
export class NonRetriableError extends Error {
  static {
    matchByBrand(NonRetriableError, nonRetriable)
  }
  readonly [nonRetriable] = true
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'NonRetriableError'
  }
}

/** One violation of a schema: its path (`data.items.0.sku`), and the schema's message. */
export interface DataIssue {
  readonly path: string
  readonly message: string
}

/** The input of a workflow, or the data of an event, violates its schema. It is not retried: the data stays the same. */
export class InvalidDataError extends NonRetriableError {
  static {
    matchByBrand(InvalidDataError, invalidData)
  }
  readonly [invalidData] = true
  /** The first violations, at most 20. */
  readonly issues: readonly DataIssue[]
  /** @param count number of all issues, when `issues` contains only the first */
  constructor(what: string, issues: readonly DataIssue[], count = issues.length) {
    const list = issues.map(({ path, message }) => `${path}: ${message}`).join('; ')
    super(`${what} is invalid: ${list}${count > issues.length ? `; and ${count - issues.length} more` : ''}`)
    this.name = 'InvalidDataError'
    this.issues = issues
  }
}
