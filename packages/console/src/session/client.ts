// Makes the client of the engine's HTTP interface that everything in the console calls.

import { type Client, createClient } from '@perdure/client'
import { parse, stringify } from '../data/json/parse.ts'
import { ENGINE_URL } from '../router/base.ts'

/** A client with this token, or with none for an open engine. Numbers are kept to the last digit. */
export function clientWith(token: string | undefined): Client {
  return createClient({
    url: ENGINE_URL,
    apiKey: token,
    json: { parse, stringify },
    fetch: (url, init) =>
      fetch(url, { ...init, cache: 'no-store', credentials: 'omit', referrerPolicy: 'no-referrer' }),
  })
}
