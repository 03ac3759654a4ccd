// Reads a bundle: one JSON document with a run and everything that belongs to it, in the form of `GET /runs/{id}/bundle`. Anybody
// may have written the file, so its form is checked before it is shown.

import type { Run, TimelineFrame } from '@perdure/protocol'
import { parse } from '../../data/json/parse.ts'
import type { LogFrame, WaterfallStep } from '../../waterfall/model.ts'
import type { RunView } from '../run/model/use-run.ts'

/** The version of the form that this console reads. */
const VERSION = 1

export interface BundleView extends RunView {
  /** The section that is incomplete. */
  truncatedIn?: string
}

/** Returns the run in a bundle. Throws an Error with a sentence for the user if the text is not a bundle. */
export function readBundle(text: string): BundleView {
  const bundle = objectOf(parseText(text), 'The file')
  const version = bundle['perdure-bundle']
  if (version === undefined) throw new Error('The file is JSON, but not a Perdure bundle.')
  if (version !== VERSION) throw new Error(`The bundle has version ${String(version)}; this console reads ${VERSION}.`)
  const run = withoutBadMembers(objectOf(bundle.run, 'The run'))
  for (const name of ['id', 'workflow', 'app', 'status', 'createdAt'])
    if (typeof run[name] !== 'string') throw new Error(`The run has no ${name}.`)
  const originMs = Date.parse(run.createdAt as string)
  const steps = listOf(bundle.steps, 'steps').filter(isStep).map(withoutBadMembers)
  const frames = [...listOf(bundle.timeline, 'timeline').filter(isFrame), ...logFrames(bundle, run.id as string)]
  return {
    run: run as unknown as Run,
    steps,
    hasAllSteps: true,
    frames: withoutRepeats(frames),
    originMs,
    isLive: false,
    isBundle: true,
    ...(isRecord(bundle.truncated) ? { truncatedIn: String(bundle.truncated.section) } : {}),
  }
}

function parseText(text: string): unknown {
  try {
    return parse(text)
  } catch (error) {
    throw new Error(`The file is not JSON: ${(error as Error).message}.`, { cause: error })
  }
}

function objectOf(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${what} is not an object.`)
  return value as Record<string, unknown>
}

function listOf(value: unknown, what: string): unknown[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) throw new Error(`The ${what} field is not a list.`)
  return value
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
const isTime = (value: unknown) => typeof value === 'string' && !Number.isNaN(Date.parse(value))

const isText = (value: unknown) => typeof value === 'string'
const isAbsentOrText = (value: unknown) => value === undefined || isText(value)

/** Members of runs and steps that pages read, by name. The others are shown as JSON, no matter what they are. */
const FORMS: readonly [name: RegExp, isValid: (value: unknown) => boolean][] = [
  [/At$/, isTime],
  [/(Id|Name|Kind)$/, isText],
  [/^progress$/, value => isRecord(value) && value.value !== undefined],
  [/^attributes$/, isRecord],
  [/^error$/, value => isRecord(value) && isText(value.message) && [value.name, value.stack].every(isAbsentOrText)],
]

/** Removes members whose values do not have the form that their names promise. */
function withoutBadMembers<T extends object>(record: T): T {
  for (const [name, value] of Object.entries(record))
    if (FORMS.some(([pattern, isValid]) => pattern.test(name) && !isValid(value))) Reflect.deleteProperty(record, name)
  return record
}

function isStep(value: unknown): value is WaterfallStep {
  if (!isRecord(value)) return false
  const { id, name, op, index, status, attempt, startedAt } = value
  return (
    [id, name, op, status].every(part => typeof part === 'string') &&
    [index, attempt].every(Number.isInteger) &&
    isTime(startedAt)
  )
}

function isFrame(value: unknown): value is TimelineFrame {
  return isRecord(value) && Number.isInteger(value.seq) && isTime(value.ts) && typeof value.kind === 'string'
}

/** Returns the log lines as frames: a bundle keeps them outside the timeline. */
function logFrames(bundle: Record<string, unknown>, runId: string): LogFrame[] {
  return listOf(bundle.logs, 'logs').flatMap(line => {
    if (!isRecord(line) || typeof line.message !== 'string' || typeof line.scope !== 'string') return []
    const frame = { ...line, kind: 'log', runId }
    return isFrame(frame) ? [frame as LogFrame] : []
  })
}

/** Returns the frames in order of seq, each once. */
function withoutRepeats(frames: readonly TimelineFrame[]): TimelineFrame[] {
  return [...new Map(frames.map(frame => [frame.seq, frame])).values()].sort((a, b) => a.seq - b.seq)
}
