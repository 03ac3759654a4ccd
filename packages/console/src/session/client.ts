// Creates the client of the engine's HTTP interface that the whole console uses.

import type { OperationMethods } from '@perdure/client'
import { createOperations } from '@perdure/client/internal'
import { parse, stringify } from '../data/json/parse.ts'
import { ENGINE_URL } from '../router/base.ts'

/** Keeps the text of every value and every digit of each number. */
const LOSSLESS = { parse, stringify }

/** Returns a client with this token, or without one for an open engine. `json`: how it reads answers; default: without loss. */
export function clientWith(
  token: string | undefined,
  json: Pick<typeof JSON, 'parse' | 'stringify'> = LOSSLESS,
): OperationMethods {
  return createOperations({
    url: ENGINE_URL,
    apiKey: token,
    json,
    fetch: (url, init) =>
      fetch(url, { ...init, cache: 'no-store', credentials: 'omit', referrerPolicy: 'no-referrer' }),
  })
}
