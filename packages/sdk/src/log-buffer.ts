// The log lines of one pass: numbered within their scope, encoded when they are written, bounded in number and
// bytes (contract §2.11, "Runner log line"). Lines of a step go out together with its opcode: the engine keeps both or
// neither, so that a repetition after a crash repeats no line.

import { type LogLevel, ROOT_SCOPE } from '@perdure/protocol'
import { byteLength } from './json.ts'
import { LOG_LINES_MAX, LOG_MESSAGE_CHARS_MAX, RESPONSE_BYTES_MAX } from './limits.ts'

/** Where lines are attributed to: the handler or one step call, with the index of its next line. */
export interface LogScope {
  readonly name: string
  /** Hashed id of the step whose opcode the lines wait for; none of the handler's. */
  readonly stepId?: string
  nextIndex: number
}

/**
 * Scope of one use of a step name. All uses share the name, which the wire asks for, so each use gets its own range
 * of indices: no line of a later use looks like the repetition of an earlier one.
 */
export function stepLogScope(id: { name: string; use: number; hashedId: string }): LogScope {
  return { name: id.name, stepId: id.hashedId, nextIndex: id.use * LOG_LINES_MAX }
}

interface Place {
  readonly scope: string
  readonly index: number
}

interface Line extends Place {
  readonly order: number
  readonly text: string
  readonly bytes: number
}

/** Room for the line that tells of dropped ones. */
const DROPPED_LINE_BYTES = 256
const HANDLER = ''

/** The log lines of one pass that were not reported yet. */
export class LogBuffer {
  readonly root: LogScope = { name: ROOT_SCOPE, nextIndex: 0 }
  /** By the step whose opcode they wait for. */
  readonly #lines = new Map<string, Line[]>()
  #order = 0
  #count = 0
  #bytes = 0
  #dropped = 0
  #firstDropped: Place | undefined

  append(scope: LogScope, line: { level: LogLevel; message: string; fields?: object | undefined }): void {
    const place = { scope: scope.name, index: scope.nextIndex++ }
    const text = encodeLine({ ...line, ...place })
    const bytes = byteLength(text) + 1
    // Dropping goes on once it began: a gap at the end can be told in one line, holes cannot.
    if (this.#dropped > 0 || this.#count >= LOG_LINES_MAX || this.#bytes + bytes > RESPONSE_BYTES_MAX) {
      this.#dropped++
      this.#firstDropped ??= place
      return
    }
    this.#keep(scope.stepId ?? HANDLER, { ...place, order: this.#order++, text, bytes })
  }

  /** Takes out the lines of the handler and of some steps, as a JSON array of at most `bytesMax` bytes. */
  drain(stepIds: readonly string[], bytesMax: number): string {
    const lines: Line[] = []
    for (const id of [...stepIds, HANDLER]) {
      for (const line of this.#lines.get(id) ?? []) lines.push(line)
      this.#lines.delete(id)
    }
    const { kept, left } = fit(lines.sort(byOrder), bytesMax)
    for (const line of lines) this.#forget(line)
    // They are nobody's any more: what a repetition could bring again is stored by now.
    for (const line of left) this.#keep(HANDLER, line)
    const texts = kept.map(({ text }) => text)
    if (left.length === 0 && this.#firstDropped) {
      texts.push(droppedLine(this.#dropped, this.#firstDropped))
      this.#dropped = 0
      this.#firstDropped = undefined
    }
    return toArray(texts)
  }

  /** All lines as a JSON array of at most `bytesMax` bytes; a last line tells how many were dropped. */
  encode(bytesMax: number): string {
    const lines = [...this.#lines.values()].flat().sort(byOrder)
    if (this.#dropped === 0 && this.#bytes + 2 <= bytesMax) return toArray(lines.map(({ text }) => text))
    const { kept, left } = fit(lines, bytesMax)
    // It takes the place of the first line that was dropped: the engine stores each place once, and those of the
    // handler in rising order, so any higher index would hide lines of later passes.
    const place = left[0] ?? this.#firstDropped ?? { scope: ROOT_SCOPE, index: this.root.nextIndex }
    const texts = kept.map(({ text }) => text)
    return toArray([...texts, droppedLine(this.#dropped + left.length, place)])
  }

  #keep(key: string, line: Line): void {
    const bucket = this.#lines.get(key)
    if (bucket) bucket.push(line)
    else this.#lines.set(key, [line])
    this.#count++
    this.#bytes += line.bytes
  }

  #forget(line: Line): void {
    this.#count--
    this.#bytes -= line.bytes
  }
}

function byOrder(a: Line, b: Line): number {
  return a.order - b.order
}

/** The first lines that fit beside the one that tells of dropped ones. */
function fit(lines: readonly Line[], bytesMax: number): { kept: Line[]; left: Line[] } {
  let bytes = DROPPED_LINE_BYTES
  const end = lines.findIndex(line => {
    bytes += line.bytes
    return bytes > bytesMax
  })
  return end < 0 ? { kept: [...lines], left: [] } : { kept: lines.slice(0, end), left: lines.slice(end) }
}

function droppedLine(count: number, { scope, index }: Place): string {
  const message = `${count} log lines of this pass were dropped: they did not fit into one answer`
  return encodeLine({ level: 'warn', message, scope, index })
}

function toArray(lines: string[]): string {
  return `[${lines.join(',')}]`
}

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
