// Formats frames, log lines and events as one line each.

import type { EventRecord, GapFrame, ProgressFrame, RunLogLine, RunStatusFrame, TimelineFrame } from '@perdure/protocol'
import { cutText } from '@perdure/protocol'
import { colourOf, type Paint } from './colour.ts'
import { stringifyDigits } from './digits.ts'
import { effectText } from './effects.ts'
import { errorHead } from './errors.ts'
import { plain } from './text.ts'
import { clockTime } from './time.ts'

const PROGRESS_CHARS_MAX = 200

/** Formats the frames of one run's timeline. The stack of a repeated error is shown once. */
export function frameLines(paint: Paint): (frame: TimelineFrame) => string {
  let shown: string | undefined
  return frame => {
    const line = frameLine(frame, paint)
    const stack = frame.kind === 'run_status' ? frame.error?.stack : undefined
    if (stack === undefined || stack === shown) return line
    shown = stack
    const indented = stack.split('\n').map(part => `    ${plain(part)}`)
    return [line, ...indented.map(part => paint('dim', part))].join('\n')
  }
}

/** A frame of one run's timeline. */
export function frameLine(frame: TimelineFrame, paint: Paint): string {
  const time = paint('dim', clockTime(frame.ts))
  if (frame.kind === 'log') return join(time, 'log ', logText(frame, paint))
  if (frame.kind === 'progress') return join(time, progressText(frame))
  const status = paint(colourOf(frame.status), frame.status.padEnd(9))
  const attempt = attemptText(frame.attempt)
  if (frame.kind === 'run_status') {
    const { error } = frame
    const reason = error && safe(error.code === undefined ? error.message : `${error.code}: ${error.message}`)
    return join(time, paint('bold', 'run '), status, safe(frame.currentStepName), attempt, reason)
  }
  const of = attempt && frame.maxAttempts ? ` of ${frame.maxAttempts}` : ''
  return join(time, 'step', status, safe(frame.name), attempt && attempt + of, safe(frame.error?.message))
}

/** A frame of the namespace's stream, with the run's id and workflow, and its error if it failed. */
export function runStatusLine(frame: RunStatusFrame | GapFrame, paint: Paint): string {
  if (frame.kind === 'gap') return gapLine(frame, paint)
  const status = paint(colourOf(frame.status), frame.status.padEnd(9))
  const step = safe(frame.currentStepName)
  const error = safe(frame.error && errorHead(frame.error))
  const head = join(paint('dim', clockTime(frame.ts)), frame.runId, status, safe(frame.workflow))
  return join(head, step, attemptText(frame.attempt), error)
}

/** A line that frames may be missing. */
export function gapLine({ ts }: GapFrame, paint: Paint): string {
  return join(paint('dim', clockTime(ts)), 'gap: changes made by other engines until now may be missing')
}

/** A progress of the namespace's stream, with the run's id and workflow. */
export function runProgressLine(frame: ProgressFrame, paint: Paint): string {
  return join(paint('dim', clockTime(frame.ts)), frame.runId, safe(frame.workflow), progressText(frame))
}

/** A progress without its time, cut to one line. */
export function progressText({ value }: Pick<ProgressFrame, 'value'>): string {
  const text = plain(stringifyDigits(value))
  return `progress  ${cutText(text, PROGRESS_CHARS_MAX, '…')}`
}

/** A line of a run's log. */
export function logLine(line: RunLogLine, paint: Paint): string {
  return join(paint('dim', clockTime(line.ts)), logText(line, paint))
}

/** An event of the live tail. */
export function eventLine(event: EventRecord, paint: Paint): string {
  const time = paint('dim', clockTime(event.receivedAt))
  return join(time, event.id, safe(event.name), safe(event.app), effectText(event))
}

/** A log line without its time. */
export function logText(line: Omit<RunLogLine, 'seq' | 'ts'>, paint: Paint): string {
  const { level, scope, message, fields = {} } = line
  const pairs = Object.entries(fields).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : stringifyDigits(value)}`,
  )
  const where = paint('dim', plain(`[${scope}${line.attempt > 1 ? ` #${line.attempt}` : ''}]`))
  const tail = pairs.length === 0 ? '' : ` ${paint('dim', plain(pairs.join(' ')))}`
  return `${paint(colourOf(level), level.padEnd(5))} ${where} ${plain(message)}${tail}`
}

const attemptText = (n: number | undefined) => (n !== undefined && n > 1 ? `attempt ${n}` : undefined)
const safe = (text: string | undefined) => (text === undefined ? undefined : plain(text))
const join = (...parts: readonly (string | undefined)[]) =>
  parts
    .filter(part => part !== undefined)
    .join('  ')
    .trimEnd()
