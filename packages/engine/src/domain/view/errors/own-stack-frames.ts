// The innermost frames of a stack that belong to the user's own code, in a form that a deployment does not change: the names of
// the function and of its file, without the path and the line. These are a part of the fingerprint
// (docs/errors.md#fingerprints).

import { maskedWords } from './masked-message.ts'

const STACK_FRAMES_MAX = 3
/** Maximum lines of a stack that are looked at, and maximum characters of each. */
const LINES_MAX = 100
const LINE_CHARS_MAX = 500
/** Shorter names come from minified code and change from build to build. */
const NAME_CHARS_MIN = 3
/** The first line of a stack repeats the message, which may have several lines. */
const HEAD_CHARS_MAX = 300

/** Paths of packages and of the runtime. */
const FOREIGN =
  /(?:^|[\\/])(?:node_modules|site-packages|dist-packages)[\\/]|[\\/]lib[\\/]python\d|^(?:node|bun|deno|ext|native|internal|java\.base)\b|^</
const POSITION = /(?::\d+){1,2}$/
const PYTHON = /^File "([^"]+)", line \d+, in (.+)$/

interface StackFrame {
  name: string
  place: string
}

/** `chargeCard charge.ts` for each frame, the innermost first; empty for a stack without such frames, or of an unknown form. */
export function ownStackFrames(stack: string | undefined, message: string): string[] {
  if (stack === undefined) return []
  const texts = stackFramesOf(withoutMessage(stack, message)).flatMap(({ name, place }) =>
    FOREIGN.test(place) ? [] : [`${nameOf(name)} ${fileOf(place)}`],
  )
  // A recursion counts once, however deep it is.
  return texts.filter((text, i) => text !== texts[i - 1]).slice(0, STACK_FRAMES_MAX)
}

function stackFramesOf(stack: string): StackFrame[] {
  const lines = stack.split('\n', LINES_MAX).map(line => line.slice(0, LINE_CHARS_MAX).trim())
  const python = lines.flatMap(line => {
    const [, place, name] = PYTHON.exec(line) ?? []
    return place === undefined || name === undefined ? [] : [{ name, place }]
  })
  // Python names the innermost frame last.
  return python.length > 0 ? python.reverse() : lines.flatMap(stackFrameOf)
}

/**
 * A frame as V8 writes it, `at charge (file:///app/charge.ts:7:11)`, or as other browsers' engines write it,
 * `charge@/app/charge.ts:7:11`.
 */
function stackFrameOf(line: string): StackFrame[] {
  const at = line.startsWith('at ')
  const text = at ? line.slice('at '.length).replace(/^async /, '') : line
  const [name, place] = at ? splitV8(text) : splitAt(text)
  if (place === undefined || !POSITION.test(place)) return []
  return [{ name, place: place.replace(POSITION, '').replace(/^file:\/\//, '') }]
}

function splitV8(text: string): [name: string, place: string | undefined] {
  const open = text.endsWith(')') ? text.lastIndexOf('(') : -1
  return open < 0 ? ['', text] : [text.slice(0, open).trim(), text.slice(open + 1, -1)]
}

function splitAt(text: string): [name: string, place: string | undefined] {
  const sign = text.indexOf('@')
  return sign < 0 ? ['', undefined] : [text.slice(0, sign), text.slice(sign + 1)]
}

/** The last part of a name: the object before it depends on how the function was called. */
function nameOf(name: string): string {
  const plain = name.replace(/ \[as [^\]]*\]$/, '').replace(/^new /, '')
  const last = plain.slice(plain.lastIndexOf('.') + 1)
  return last.length < NAME_CHARS_MIN || last.startsWith('<') ? '' : maskedWords(last)
}

/** The name of the file; the part that differs from build to build, as in `charge-4f3a2b1c.js`, is masked. */
function fileOf(place: string): string {
  const path = place.replace(/[?#].*$/, '')
  return maskedWords(path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1))
}

function withoutMessage(stack: string, message: string): string {
  const at = message === '' ? -1 : stack.indexOf(message)
  const isInHead = at >= 0 && at <= HEAD_CHARS_MAX && !stack.slice(0, at).includes('\n')
  return isInHead ? stack.slice(at + message.length) : stack
}
