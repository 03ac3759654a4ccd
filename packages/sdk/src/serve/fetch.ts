// Serves wherever a web-standard `Request` is answered with a `Response`: Bun, Deno, Hono and many others. Called by the
// adapters of these, and exported by `@perdure/sdk`.

import { Buffer } from 'node:buffer'
import { Cancellation } from '../run/cancellation.ts'
import { createHandler, type Handler, type HandlerOptions, type HandlerResponse, refusal } from '../runner/handler.ts'
import { REQUEST_BYTES_MAX } from '../wire/limits.ts'

/** Answers a web-standard request. Bun and Deno pass their connection too, from which the caller's address is read. */
export type FetchHandler = (request: Request, connection?: unknown) => Promise<Response>

/** Creates a handler that answers invokes. It ignores the path of the request. */
export function createFetchHandler(options: HandlerOptions | Handler): FetchHandler {
  const handler = 'handle' in options ? options : createHandler(options)
  return async (request, connection) => {
    if (request.method !== 'POST') return refuse(405, 'An invoke is a POST')
    const rawBody = await readBody(request).catch(error => error as Error)
    if (rawBody instanceof Error) return refuse(400, `The body was cut off: ${rawBody.message}`)
    if (!rawBody) return refuse(413, `At most ${REQUEST_BYTES_MAX} bytes are read`)
    const cancellation = new Cancellation()
    const { signal } = request
    if (signal.aborted) cancellation.cancel(signal.reason)
    else signal.addEventListener('abort', () => cancellation.cancel(signal.reason), { once: true })
    const { host } = new URL(request.url)
    const remoteAddress = remoteAddressOf(request, connection)
    return toResponse(await handler.handle({ headers: request.headers, rawBody, host, remoteAddress, cancellation }))
  }
}

/** The value that Bun (its server), Deno (its `info`) and Hono on Node (its `env`) pass beside a request. */
interface Connection {
  requestIP?(request: Request): { address?: string } | null
  remoteAddr?: { hostname?: string }
  incoming?: { socket?: { remoteAddress?: string } }
}

/** The address of the caller; undefined where the runtime does not pass it. */
function remoteAddressOf(request: Request, connection: unknown): string | undefined {
  if (typeof connection !== 'object' || connection === null) return undefined
  const { remoteAddr, incoming } = connection as Connection
  const given = remoteAddr?.hostname ?? incoming?.socket?.remoteAddress
  if (given !== undefined) return given
  return (connection as Connection).requestIP?.(request)?.address
}

/** Reads the bytes of a body. Resolves with undefined when the body is too large. */
async function readBody(request: Request): Promise<Uint8Array | undefined> {
  if (Number(request.headers.get('content-length')) > REQUEST_BYTES_MAX) return undefined
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of request.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > REQUEST_BYTES_MAX) return undefined
    chunks.push(chunk)
  }
  return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)
}

/** Builds the error response to a request that is not an invoke, or could not be read. */
export function refuse(status: number, message: string): Response {
  return toResponse(refusal(status, message))
}

function toResponse({ status, headers, body }: HandlerResponse): Response {
  return new Response(body, { status, headers })
}
