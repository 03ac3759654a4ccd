// The log lines of one pass: numbered within their scope, encoded when they are written, bounded in number and bytes. Lines of a
// step are sent together with its opcode. The engine stores both or neither, so a step that is repeated after a crash stores no
// line twice.

import { cutText, type LogLevel, RESPONSE_BYTES_MAX, ROOT_SCOPE } from '@perdure/protocol'
import { LOG_LINES_MAX, LOG_MESSAGE_CHARS_MAX } from '../wire/limits.ts'
import { byteLength } from '../wire/text-size.ts'

/** The handler or one step call, to which log lines belong, and the index of its next line. */
export interface LogScope {
  readonly name: string
  /** Hashed id of the step whose opcode the lines wait for; undefined for lines of the handler. */
  readonly stepId?: string
  nextIndex: number
}

/**
 * Creates the log scope of one use of a step name. The wire identifies a line by scope name and index, and all uses of
 * a name share the scope name. Each use therefore gets its own range of indices, so that no line of a later use looks
 * like a repetition of an earlier one.
 */
export function stepLogScope(id: { name: string; use: number; hashedId: string }): LogScope {
  return { name: id.name, stepId: id.hashedId, nextIndex: id.use * LOG_LINES_MAX }
}

/** The engine stores one line for each position. */
interface LinePosition {
  readonly scope: string
  readonly index: number
}

interface LineContent {
  level: LogLevel
  message: string
  fields?: object | undefined
}

interface Line extends LinePosition {
  readonly order: number
  readonly text: string
  readonly bytes: number
}

/** Space for the line that says how many lines were dropped. */
const DROPPED_LINE_BYTES = 256
/** Key of the lines that do not wait for a step's opcode. */
const HANDLER_KEY = ''

/** The log lines of one pass that have not been reported yet. */
export class LogBuffer {
  readonly root: LogScope = { name: ROOT_SCOPE, nextIndex: 0 }
  /** By the hashed id of the step whose opcode they wait for. */
  readonly #lines = new Map<string, Line[]>()
  #order = 0
  #count = 0
  #bytes = 0
  #dropped = 0
  #firstDropped: LinePosition | undefined
  /** The lines that the last `drain` returned, and the dropped ones that it reported. */
  #drained: { lines: Line[]; dropped: number; firstDropped: LinePosition | undefined } | undefined

  append(scope: LogScope, line: LineContent): void {
    const position = { scope: scope.name, index: scope.nextIndex++ }
    const text = encodeLine({ ...line, ...position })
    const bytes = byteLength(text) + 1
    // After the first dropped line all further lines are dropped: one line can report a gap at the end, but not several gaps.
    if (this.#dropped > 0 || this.#count >= LOG_LINES_MAX || this.#bytes + bytes > RESPONSE_BYTES_MAX) {
      this.#dropped++
      this.#firstDropped ??= position
      return
    }
    this.#keep(scope.stepId ?? HANDLER_KEY, { ...position, order: this.#order++, text, bytes })
  }

  /** Removes the lines of the handler and of some steps, and returns them as a JSON array of at most `bytesMax` bytes. */
  drain(stepIds: readonly string[], bytesMax: number): string {
    const lines: Line[] = []
    for (const id of [...stepIds, HANDLER_KEY]) {
      for (const line of this.#lines.get(id) ?? []) lines.push(line)
      this.#lines.delete(id)
    }
    const { fitting, rest } = splitByBytes(lines.sort(byOrder), bytesMax)
    this.#count -= lines.length
    for (const { bytes } of lines) this.#bytes -= bytes
    // The opcode of their step is reported now, so the remaining lines wait for no opcode any more.
    for (const line of rest) this.#keep(HANDLER_KEY, line)
    const texts = fitting.map(({ text }) => text)
    this.#drained = { lines: fitting, dropped: this.#dropped, firstDropped: this.#firstDropped }
    if (rest.length === 0 && this.#firstDropped) {
      texts.push(droppedLine(this.#dropped, this.#firstDropped))
      this.#dropped = 0
      this.#firstDropped = undefined
    }
    return `[${texts.join(',')}]`
  }

  /** Restores the lines of the last `drain`, because they were not sent. */
  takeBack(): void {
    if (!this.#drained) return
    const { lines, dropped, firstDropped } = this.#drained
    this.#drained = undefined
    for (const line of lines) this.#keep(HANDLER_KEY, line)
    this.#dropped = Math.max(this.#dropped, dropped)
    this.#firstDropped ??= firstDropped
  }

  /** Returns all lines as a JSON array of at most `bytesMax` bytes. A last line says how many were dropped. */
  encode(bytesMax: number): string {
    const lines = [...this.#lines.values()].flat().sort(byOrder)
    const { fitting, rest } = splitByBytes(lines, bytesMax)
    const texts = fitting.map(({ text }) => text)
    // The last line has the position of the first dropped line. The engine stores each position once, and the handler's positions
    // in rising order, so a higher index would hide lines of later passes.
    const position = rest[0] ?? this.#firstDropped
    if (position) texts.push(droppedLine(this.#dropped + rest.length, position))
    return `[${texts.join(',')}]`
  }

  #keep(key: string, line: Line): void {
    const bucket = this.#lines.get(key)
    if (bucket) bucket.push(line)
    else this.#lines.set(key, [line])
    this.#count++
    this.#bytes += line.bytes
  }
}

function byOrder(a: Line, b: Line): number {
  return a.order - b.order
}

/** Splits off the first lines that fit into `bytesMax` together with the line about dropped ones. */
function splitByBytes(lines: readonly Line[], bytesMax: number): { fitting: Line[]; rest: Line[] } {
  let bytes = DROPPED_LINE_BYTES
  const end = lines.findIndex(line => {
    bytes += line.bytes
    return bytes > bytesMax
  })
  return end < 0 ? { fitting: [...lines], rest: [] } : { fitting: lines.slice(0, end), rest: lines.slice(end) }
}

function droppedLine(count: number, { scope, index }: LinePosition): string {
  const message = `${count} log lines of this pass were dropped: they did not fit into one answer`
  return encodeLine({ level: 'warn', message, scope, index })
}

function encodeLine(line: LinePosition & LineContent): string {
  const message = cutText(String(line.message), LOG_MESSAGE_CHARS_MAX)
  const fields = line.fields === undefined ? '' : `,"fields":${encodeFields(line.fields)}`
  const head = `{"level":"${line.level}","message":${JSON.stringify(message)}${fields}`
  return `${head},"scope":${JSON.stringify(line.scope)},"index":${line.index},"tsMs":${Date.now()}}`
}

/** Encodes the fields of a line. Never throws, so that logging cannot fail a step. */
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
