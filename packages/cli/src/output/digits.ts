// JSON whose numbers keep their digits. JavaScript rounds a number beyond 2^53, and would send and show a different one. When
// JSON is read, such a number becomes a marked text, and it is written as the original number.

/** A string, or a number of many digits. */
const STRING_OR_LONG = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]{15,}/gs
const MANY_DIGITS = /[\d.]{16}/
/** No text of a person begins with this. */
const MARK = '\u0000digits:'
const MARKED = /"\\u0000digits:([^"]*)"/g

/** Parses JSON. Throws a SyntaxError as `JSON.parse` does. */
export function parseDigits(text: string): unknown {
  if (!MANY_DIGITS.test(text)) return JSON.parse(text)
  const marked = text.replace(STRING_OR_LONG, token => {
    if (token.startsWith('"') || String(Number(token)) === token || Number.isNaN(Number(token))) return token
    return JSON.stringify(MARK + token)
  })
  return JSON.parse(marked)
}

/** The JSON of a value, with the original digits of parsed numbers; undefined where `JSON.stringify` returns it. */
export function stringifyDigits(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, undefined, indent)
  return text?.includes('"\\u0000digits:') ? text.replace(MARKED, '$1') : text
}

/** How the client reads and writes JSON. */
export const KEEPING_DIGITS = { parse: parseDigits, stringify: (value: unknown) => stringifyDigits(value) }
