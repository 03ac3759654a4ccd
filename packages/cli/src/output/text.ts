// Text that came from somewhere else, made fit for a terminal: nothing in it may steer the terminal, and columns need
// to know how wide it is.

// Control characters, and those that turn the direction of what follows.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what we look for
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g
const NAMED: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** `text` on one line, with whatever a terminal would act on spelled out. */
export function plain(text: string): string {
  return text.replace(
    UNPRINTABLE,
    char => NAMED[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** JSON for people: indented, and safe for the terminal. */
export function prettyJson(value: unknown): string {
  const text = JSON.stringify(value, undefined, 2) ?? ''
  return text
    .split('\n')
    .map(line => plain(line))
    .join('\n')
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}]/u
const EMPTY = /^[\p{Mn}\p{Me}\p{Cf}]$/u

const widthOfChar = (char: string) => (EMPTY.test(char) ? 0 : WIDE.test(char) ? 2 : 1)

/** Columns of the terminal that the text takes. */
export function widthOf(text: string): number {
  let width = 0
  for (const char of text) width += widthOfChar(char)
  return width
}

/** The text in at most `width` columns; what is cut off leaves an ellipsis. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  if (width <= 0) return ''
  let kept = ''
  let left = width - 1
  for (const char of text) {
    left -= widthOfChar(char)
    if (left < 0) break
    kept += char
  }
  return `${kept}…`
}
