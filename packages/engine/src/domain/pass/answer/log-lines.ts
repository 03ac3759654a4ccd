// Reads the log lines of a runner's answer or checkpoint (docs/wire-protocol.md#log-lines). Bad lines are left out: the steps
// and the readable lines in the same message still count. Called by outcome.ts.

import { LOG_INDEX_MAX, type LogLevel, ROOT_SCOPE, type RunnerLogLine } from '@perdure/protocol'
import { RunnerLogLineSchema } from '@perdure/protocol/schema'
import { arrayElements, type JsonText, objectMember } from '../../text/json-text.ts'
import { compiledOnce } from '../../text/schema/compiled-schema.ts'
import { isObject } from '../opcodes/step-error.ts'

/** A log line whose fields are kept as the text in which they came. */
export type PassLine = Omit<RunnerLogLine, 'fields'> & { fields?: JsonText }

export interface PassLines {
  logs: PassLine[]
  /** Absent when all lines could be read. */
  unread?: UnreadLines
}

/** Unreadable lines, which are not stored. */
interface UnreadLines {
  count: number
  /** The problem of the first line. */
  problem: string
}

const wellFormed = compiledOnce(RunnerLogLineSchema)

/** Names of levels in the loggers of other languages. */
const LEVELS: Readonly<Record<string, LogLevel>> = {
  trace: 'debug',
  debug: 'debug',
  info: 'info',
  notice: 'info',
  warn: 'warn',
  warning: 'warn',
  error: 'error',
  critical: 'error',
  fatal: 'error',
}

/** Reads the lines of a message. `parsed` is the parsed `text`, if that is an object. */
export function readLines(parsed: object | undefined, text: JsonText): PassLines {
  const sent = (parsed as { logs?: unknown } | undefined)?.logs ?? []
  if (!Array.isArray(sent)) return { logs: [], unread: { count: 1, problem: '/logs must be an array' } }
  const read: PassLines = { logs: [] }
  const nextIndex = new Map<string, number>()
  let texts: JsonText[] | undefined
  for (const [i, one] of sent.entries()) {
    const line = wellFormed().Check(one) ? one : repaired(one, nextIndex)
    if (typeof line === 'string') {
      const { count, problem } = read.unread ?? { count: 0, problem: `/logs/${i} ${line}` }
      read.unread = { count: count + 1, problem }
      continue
    }
    const { level, message, scope, index } = line
    nextIndex.set(scope, Math.min(index + 1, LOG_INDEX_MAX))
    const kept: PassLine = { level, message, scope, index }
    if (isTime(line.tsMs)) kept.tsMs = Math.round(line.tsMs)
    if (hasMembers(line.fields)) {
      texts ??= arrayElements(objectMember(text, 'logs') as JsonText)
      kept.fields = objectMember(texts[i] as JsonText, 'fields') as JsonText
    }
    read.logs.push(kept)
  }
  return read
}

/** The line with missing fields filled in, or its problem. A line without an index follows the last line of its scope. */
function repaired(line: unknown, nextIndex: ReadonlyMap<string, number>): RunnerLogLine | string {
  if (!isObject(line)) return 'must be an object'
  const { message } = line
  const scope = line.scope ?? ROOT_SCOPE
  const level = levelOf(line.level ?? 'info')
  const fields = line.fields ?? {}
  if (typeof message !== 'string') return 'message must be a string'
  if (typeof scope !== 'string') return 'scope must be a string'
  if (!level) return 'level must be debug, info, warn or error'
  if (!isObject(fields)) return 'fields must be an object'
  const index = isIndex(line.index) ? line.index : (nextIndex.get(scope) ?? 0)
  return { level, message, fields, scope, index, ...(isTime(line.tsMs) && { tsMs: line.tsMs }) }
}

function levelOf(level: unknown): LogLevel | undefined {
  const name = typeof level === 'string' ? level.toLowerCase() : ''
  return Object.hasOwn(LEVELS, name) ? LEVELS[name] : undefined
}

function isIndex(index: unknown): index is number {
  return Number.isInteger(index) && (index as number) >= 0 && (index as number) <= LOG_INDEX_MAX
}

/** The highest time that a `Date` can show. */
const TIME_MS_MAX = 8.64e15

function isTime(tsMs: unknown): tsMs is number {
  return typeof tsMs === 'number' && Math.abs(tsMs) <= TIME_MS_MAX
}

function hasMembers(fields: Record<string, unknown> | undefined): boolean {
  for (const _ in fields) return true
  return false
}
