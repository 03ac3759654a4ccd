// Case-insensitive search in stored text: the meaning of the SQL functions `text_has` and `json_has`, which every dialect
// defines and run-filter.ts uses. Both take the folded needle, then any number of texts.

import { fromStored } from '../../description/stored-text.ts'

/** The form in which texts are compared, so that case does not matter. */
export function folded(text: string): string {
  return text.toLowerCase()
}

/** Whether one of the texts contains the needle. */
export function textHas(needle: string, texts: readonly (string | null)[]): boolean {
  const wanted = fromStored(needle)
  return texts.some(text => text !== null && folded(fromStored(text)).includes(wanted))
}

/**
 * Whether one of the JSON texts contains the needle, in its written or its decoded form: `say "hi" to Zoë` is found however its
 * quotes and letters are escaped.
 */
export function jsonHas(needle: string, texts: readonly (string | null)[]): boolean {
  const wanted = fromStored(needle)
  return texts.some(stored => {
    if (stored === null) return false
    const text = fromStored(stored)
    if (folded(text).includes(wanted)) return true
    return text.includes('\\') && folded(unescaped(text)).includes(wanted)
  })
}

const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(.))/g
const SHORT: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

/** Resolves the escapes in the text's strings; the result is no longer JSON. */
function unescaped(json: string): string {
  return json.replace(ESCAPE, (_, code: string | undefined, char: string) =>
    code === undefined ? (SHORT[char] ?? char) : String.fromCharCode(Number.parseInt(code, 16)),
  )
}
