// The typed client of the engine's HTTP interface, without a network: requests are passed to the engine in process. Called
// by test-engine.ts.

import type { Client } from '@perdure/client'
import { API_KEY, type Host, type HttpRequest } from './host/host.ts'
import { outsideWorkflow } from './host/pass-under-way.ts'

/** Statuses whose answers have no body. */
const EMPTY_STATUSES: readonly number[] = [204, 304]

/** Creates a client of the engine that runs at the time of the call. A stream that never ends never gives a response. */
export function injectedClient(host: Host): Client {
  const send = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
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
    fetch: (input, init) => outsideWorkflow(() => send(input, init)),
  })
}
