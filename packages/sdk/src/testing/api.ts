// The engine's HTTP interface without a network: the typed client, on requests that are handed to it in process.

import type { Client } from '@perdure/client'
import { API_KEY, type Host, type HttpRequest } from './host.ts'
import { outsideWorkflow } from './pass-under-way.ts'

/** Statuses whose answers have no body. */
const EMPTY_STATUSES: readonly number[] = [204, 304]

/** A client of whatever engine runs when it is called. Streams that do not end by themselves never answer. */
export function injectedClient(host: Host): Client {
  const ask = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const { pathname, search } = new URL(String(input))
    const { statusCode, headers, body } = await host.request({
      method: (init.method ?? 'GET') as HttpRequest['method'],
      url: pathname + search,
      headers: init.headers as Record<string, string>,
      ...(typeof init.body === 'string' ? { payload: init.body } : {}),
    })
    const fields = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)])
    const isEmpty = EMPTY_STATUSES.includes(statusCode)
    return new Response(isEmpty ? null : body, { status: statusCode, headers: fields })
  }
  return host.packages.client.createClient({
    url: 'http://127.0.0.1:4777',
    apiKey: API_KEY,
    fetch: (input, init) => outsideWorkflow(() => ask(input, init)),
  })
}
