// The typed client of the engine's HTTP interface, without a network: requests are passed to the engine in process. Created
// by the host.

import { type Client, createClient } from '@perdure/client'
import { outsideWorkflow } from './pass-under-way.ts'

/** Sent with every request. It protects nothing: the engine is in the test's own process. */
export const API_KEY = 'the-key-of-the-testing-kit'
/** Statuses whose answers have no body. */
const EMPTY_STATUSES: readonly number[] = [204, 304]

export interface HttpRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Path and query. */
  url: string
  headers: Record<string, string>
  payload?: string | object
}

export interface HttpAnswer {
  statusCode: number
  headers: Readonly<Record<string, unknown>>
  body: string
}

/** Creates a client. `request` sends a request to the engine. A stream that never ends never gives a response. */
export function injectedClient(request: (request: HttpRequest) => Promise<HttpAnswer>): Client {
  const send = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const { pathname, search } = new URL(String(input))
    const { statusCode, headers, body } = await request({
      method: (init.method ?? 'GET') as HttpRequest['method'],
      url: pathname + search,
      headers: init.headers as Record<string, string>,
      ...(typeof init.body === 'string' ? { payload: init.body } : {}),
    })
    const fields = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)])
    const isEmpty = EMPTY_STATUSES.includes(statusCode)
    return new Response(isEmpty ? null : body, { status: statusCode, headers: fields })
  }
  return createClient({
    url: 'http://127.0.0.1:4777',
    apiKey: API_KEY,
    fetch: (input, init) => outsideWorkflow(() => send(input, init)),
  })
}
