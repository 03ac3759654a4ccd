// Runs as the text of a file: CSV for spreadsheets, or one JSON object per line. Pure.

import { sourceOf, stringify } from '../../../data/json/parse.ts'
import type { Item } from '../../../data/queries.ts'

type Run = Item<'listRuns'>
export type Format = 'csv' | 'ndjson'

/** The columns of the CSV, in order. */
const COLUMNS: Readonly<Record<string, (run: Run) => unknown>> = {
  id: run => run.id,
  status: run => run.status,
  workflow: run => run.workflow,
  app: run => run.app,
  trigger: run => run.cron ?? run.eventName,
  created_at: run => run.createdAt,
  started_at: run => run.startedAt,
  finished_at: run => run.finishedAt,
  duration_ms: run => run.durationMs,
  waiting_for: run => run.waitingFor?.kind,
  error_step: run => run.error?.stepName,
  error_code: run => run.error?.code,
  error_message: run => run.error?.message,
  parent_run_id: run => run.parentRunId,
  replay_of: run => run.replayOf,
  kind: run => run.kind ?? 'run',
  attributes: run => run.attributes && stringify(run.attributes),
}

export const CSV_HEAD = `${Object.keys(COLUMNS).join(',')}\r\n`

/** Returns the lines of these runs, each with its line end. */
export function linesOf(runs: readonly Run[], format: Format): string {
  if (format === 'ndjson') return runs.map(run => `${sourceOf(run)}\n`).join('')
  return runs
    .map(
      run =>
        `${Object.values(COLUMNS)
          .map(read => cell(read(run)))
          .join(',')}\r\n`,
    )
    .join('')
}

/** A spreadsheet treats a text that starts with one of these as a formula, and may run it. */
const FORMULA = /^[=+\-@\t\r]/

/** Returns a cell, in quotes if necessary. A text that looks like a formula gets an apostrophe, and stays a text. */
export function cell(value: unknown): string {
  if (value === undefined || value === null) return ''
  const text = String(value)
  const safe = typeof value === 'string' && FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
