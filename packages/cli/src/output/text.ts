// Makes foreign text safe for a terminal, which must not interpret anything in it, and measures its width for columns.

import { stringifyDigits } from './digits.ts'

// Control characters, and characters that change the direction of the following text.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern is meant to match them
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g
/** The only sequences that the command line itself writes: colours, and the ends of lines. */
const OWN_OR_UNPRINTABLE = new RegExp(`\\u001b\\[\\d{1,2}m|\\n|${UNPRINTABLE.source}`, 'g')
const NAMED: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** `text` on one line, with escape sequences for characters that a terminal would interpret. */
export function plain(text: string): string {
  return text.replace(UNPRINTABLE, escaped)
}

/** Prepares lines for a terminal: everything but their colours and ends is made {@link plain}. */
export function forTerminal(lines: string): string {
  return lines.replace(OWN_OR_UNPRINTABLE, found => (found.length > 1 || found === '\n' ? found : escaped(found)))
}

/** JSON for programs: one line, which a terminal shows without interpreting anything in it. It parses to the same value. */
export function jsonLine(value: unknown): string {
  return plain(stringifyDigits(value) ?? 'null')
}

const escaped = (char: string) => NAMED[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`

/** JSON for people: indented, and safe for the terminal. */
export function prettyJson(value: unknown): string {
  const text = stringifyDigits(value, 2) ?? ''
  return text
    .split('\n')
    .map(line => plain(line))
    .join('\n')
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}]/u
const EMPTY = /^[\p{Mn}\p{Me}\p{Cf}]$/u

const widthOfChar = (char: string) => (EMPTY.test(char) ? 0 : WIDE.test(char) ? 2 : 1)

/** Width of the text in columns of the terminal. */
export function widthOf(text: string): number {
  let width = 0
  for (const char of text) width += widthOfChar(char)
  return width
}

/** The text, cut to at most `width` columns with an ellipsis at the cut. */
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

/** The text without API keys, which someone may type in place of ids. */
export const withoutKeys = (text: string) => text.replace(/pdk_[\w-]+/g, 'pdk_[REDACTED]')
