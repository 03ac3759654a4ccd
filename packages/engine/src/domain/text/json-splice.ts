// Inserts stored JSON texts into a larger one unchanged: parsing and re-serialising them would lose digits.

import type { JsonText } from './json-text.ts'

/** `head` as JSON, followed by the members of `raw` that are present, with their texts unchanged. */
export function splice(head: object, raw: Readonly<Record<string, JsonText | undefined>>): JsonText {
  let text = JSON.stringify(head).slice(0, -1)
  for (const name in raw) {
    const value = raw[name]
    if (value !== undefined) text += `${text === '{' ? '' : ','}"${name}":${value}`
  }
  return `${text}}`
}

/** The JSON array of the texts. */
export function list(items: readonly JsonText[]): JsonText {
  return `[${items.join(',')}]`
}
