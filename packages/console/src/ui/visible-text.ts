// Makes characters visible that a reader would not see or that change the order of others: control, bidi and zero-width
// characters. Others write the texts of runs, so every text in the data passes through here.

import { cutText } from '@perdure/protocol/portable'

/** A piece of unchanged text, or one hidden character as its code point. */
export type TextPart = { text: string } | { code: string }

/** Controls except tab and line feed, format characters (bidi, zero-width, tags), separators, fillers, lone surrogates. */
const HIDDEN = /(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]|\u034f/gu

const ANY_HIDDEN = new RegExp(HIDDEN.source, 'u')
/** Covers most texts: a simple class is tested in a fifth of the time. */
const ASCII = /^[\t\n -~]*$/

/** Whether the text has no hidden character. */
export const isPlain = (text: string): boolean => ASCII.test(text) || !ANY_HIDDEN.test(text)

/** Splits a text at its hidden characters. An ordinary text is one part. */
export function visibleParts(text: string): TextPart[] {
  const parts: TextPart[] = []
  let at = 0
  for (const match of text.matchAll(HIDDEN)) {
    if (match.index > at) parts.push({ text: text.slice(at, match.index) })
    parts.push({ code: codeOf(match[0]) })
    at = match.index + match[0].length
  }
  if (at < text.length || parts.length === 0) parts.push({ text: text.slice(at) })
  return parts
}

/** Returns the same as one text, for titles and labels: hidden characters are written as `U+202E`. */
export function visibleText(text: string): string {
  return text.replace(HIDDEN, codeOf)
}

/** Returns a name for titles, labels and toasts: visible, in one line, cut at `charsMax` characters. */
export function shortName(name: string, charsMax = 80): string {
  const line = visibleText(name).replace(/\s+/g, ' ')
  return cutText(line, charsMax) === line ? line : cutText(line, charsMax - 1, '…')
}

function codeOf(char: string): string {
  return `U+${(char.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}`
}

/** Returns the kind of a run that follows another, as text. */
export function kindWords(kind: string): string {
  return kind === 'onFailure' ? 'on failure' : kind
}

/** Returns the prefix of an id and its last characters, which differ between ids. */
export const shortId = (id: string) => (id.length <= 14 ? id : `${id.slice(0, 4)}…${id.slice(-8)}`)
