// The logger's public face, and the lines of one pass: numbered within their scope, encoded when they are
// written, bounded in number and bytes (contract §2.11, "Runner log line").

import { type LogLevel, ROOT_SCOPE } from '@perdure/protocol'
import { byteLength } from './json.ts'
import { LOG_LINES_MAX, LOG_MESSAGE_CHARS_MAX, RESPONSE_BYTES_MAX } from './limits.ts'

/** Writes log lines of the run. `fields` may be any object; errors in it keep name, message and stack. */
export interface Logger {
  debug(message: string, fields?: object): void
  info(message: string, fields?: object): void
  warn(message: string, fields?: object): void
  error(message: string, fields?: object): void
}

/** Where lines are attributed to: the handler or one step call, with the index of its next line. */
export interface LogScope {
  readonly name: string
  nextIndex: number
}

/**
 * Scope of the n-th use (from 0) of a step name. All uses share the name, which the wire asks for, so each
 * use gets its own range of indices: no line of a later use looks like the repetition of an earlier one.
 */
export function stepLogScope(name: string, use: number): LogScope {
  return { name, nextIndex: use * LOG_LINES_MAX }
}

/** A logger whose lines go to the scope in force when they are written. */
export function createLogger(logs: LogBuffer, scope: () => LogScope): Logger {
  const write = (level: LogLevel) => (message: string, fields?: object) =>
    logs.append(scope(), { level, message, fields })
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}

/** The log lines of one pass. */
export class LogBuffer {
  readonly root: LogScope = { name: ROOT_SCOPE, nextIndex: 0 }
  readonly #lines: { text: string; isRoot: boolean }[] = []
  #bytes = 0
  #dropped = 0

  append(scope: LogScope, line: { level: LogLevel; message: string; fields?: object | undefined }): void {
    const index = scope.nextIndex++
    const text = encodeLine({ ...line, scope: scope.name, index })
    const bytes = byteLength(text) + 1
    // Dropping goes on once it began: a gap at the end can be told in one line, holes cannot.
    if (
      this.#dropped > 0 ||
      this.#lines.length >= LOG_LINES_MAX ||
      this.#bytes + bytes > RESPONSE_BYTES_MAX
    ) {
      this.#dropped++
      return
    }
    this.#lines.push({ text, isRoot: scope === this.root })
    this.#bytes += bytes
  }

  /** The lines as a JSON array of at most `bytesMax` bytes; a last line tells how many were dropped. */
  encode(bytesMax: number): string {
    if (this.#dropped === 0 && this.#bytes + 2 <= bytesMax)
      return toArray(this.#lines.map(({ text }) => text))
    const kept: string[] = []
    let bytes = DROPPED_LINE_BYTES
    let rootLines = 0
    for (const { text, isRoot } of this.#lines) {
      bytes += byteLength(text) + 1
      if (bytes > bytesMax) break
      kept.push(text)
      if (isRoot) rootLines++
    }
    const dropped = this.#dropped + this.#lines.length - kept.length
    const message = `${dropped} log lines of this pass were dropped: they did not fit into one answer`
    // It takes the place of the first handler line that was dropped: the engine stores each place once, in
    // rising order, so any higher index would hide lines of later passes.
    kept.push(encodeLine({ level: 'warn', message, scope: ROOT_SCOPE, index: rootLines }))
    return toArray(kept)
  }
}

function toArray(lines: string[]): string {
  return `[${lines.join(',')}]`
}

/** Room for the line that tells of dropped ones. */
const DROPPED_LINE_BYTES = 256

function encodeLine(line: {
  level: LogLevel
  message: string
  fields?: object | undefined
  scope: string
  index: number
}): string {
  const message = String(line.message).slice(0, LOG_MESSAGE_CHARS_MAX)
  const fields = line.fields === undefined ? '' : `,"fields":${encodeFields(line.fields)}`
  const head = `{"level":"${line.level}","message":${JSON.stringify(message)}${fields}`
  return `${head},"scope":${JSON.stringify(line.scope)},"index":${line.index},"tsMs":${Date.now()}}`
}

/** Fields are a convenience: whatever they hold, logging never throws. */
function encodeFields(fields: unknown): string {
  const isRecord = typeof fields === 'object' && fields !== null && !Array.isArray(fields)
  const record = fields instanceof Error ? { error: fields } : isRecord ? fields : { value: fields }
  try {
    return JSON.stringify(record, replaceField) ?? '{}'
  } catch (error) {
    return JSON.stringify({ unserialisable: error instanceof Error ? error.message.split('\n', 1)[0] : true })
  }
}

function replaceField(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Error) return { name: value.name, message: value.message, stack: value.stack }
  return value
}
