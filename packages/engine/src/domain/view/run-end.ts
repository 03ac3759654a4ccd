// The end of a run on the wire: in the results of runs, in the result of a step that waits for a run, and in the payloads for
// endpoints and workflows that listen.

import { isTerminal, type Run } from '../model/run.ts'
import { shownRunId } from '../text/ids.ts'
import { splice } from '../text/json-splice.ts'
import type { JsonText } from '../text/json-text.ts'

/** A run's end on the wire; for a run that has not ended, only its status. */
export function runEndText({ id, status, result, error }: Pick<Run, 'id' | 'status' | 'result' | 'error'>): JsonText {
  return isTerminal(status)
    ? splice({ runId: shownRunId(id), status, error }, { result })
    : splice({ runId: shownRunId(id), status }, {})
}

/** A result or an error larger than this is omitted from the payload, with `resultOmitted: true` instead. */
export const RESULT_BYTES_MAX = 64 * 1024

/** Facts about the end of a run as JSON, with its error and its result unless they are too large. */
export function boundedEndText(about: { error?: unknown }, result: JsonText | undefined): JsonText {
  const facts = bounded(about)
  if (result === undefined) return JSON.stringify(facts)
  if (Buffer.byteLength(result) <= RESULT_BYTES_MAX) return splice(facts, { result })
  return JSON.stringify({ ...facts, resultOmitted: true })
}

/** The fields, without their error if that is too large. */
export function bounded<T extends { error?: unknown }>(fields: T): T | (Omit<T, 'error'> & { resultOmitted: true }) {
  const { error, ...rest } = fields
  if (error === undefined || Buffer.byteLength(JSON.stringify(error)) <= RESULT_BYTES_MAX) return fields
  return { ...rest, resultOmitted: true }
}
