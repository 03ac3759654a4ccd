// Describes answers of servers other than the one that was called: a proxy, a gateway, another application. Engine, SDK and
// client put the text into their messages.

import { cutText } from './cut-text.ts'

/** Most characters of a body that are looked at. */
const LOOKED_AT_CHARS_MAX = 16_384
const TEXT_CHARS_MAX = 200

/** Scripts, styles and tags, closed or not. */
const MARKUP = /<(script|style)\b.*?(<\/\1[^>]*>|$)|<[^>]*(>|$)/gis

/** Returns the text of a body in one line of at most 200 characters; for a page, the text that a reader would see. */
export function bodyText(body: string): string {
  const head = cutText(body, LOOKED_AT_CHARS_MAX)
  // Bundles for browsers leave it out.
  const isPage = globalThis.process !== undefined && /^\s*<(!|\w)/.test(head)
  const text = isPage ? head.replace(MARKUP, ' ').replaceAll('&nbsp;', ' ') : head
  const line = text
    // Control characters would change what a terminal shows.
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  return cutText(line, TEXT_CHARS_MAX, '…')
}

export interface ForeignAnswer {
  url: string
  status: number
  body: string
}

/** One sentence with the address, the status and the answer. */
export function foreignAnswer({ url, status, body }: ForeignAnswer): string {
  const text = bodyText(body).replace(/\.$/, '')
  return `${url} answered ${status}${text === '' ? '' : `: ${text}`}.`
}
