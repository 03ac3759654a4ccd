// Serves wherever a web-standard `Request` is answered with a `Response`: Bun, Deno, Hono and many others. Called by their
// adapters, and exported by `@perdure/sdk`.

import { Buffer } from 'node:buffer'
import { Cancellation } from '../run/cancellation.ts'
import { createHandler, type Handler, type HandlerOptions, type HandlerResponse, refusal } from '../runner/handler.ts'
import { REQUEST_BYTES_MAX } from '../wire/limits.ts'
import { BODY_READ_MESSAGE } from './node-body.ts'

/** Answers a web-standard request. Bun and Deno pass their connection too, from which the caller's address is read. */
export type FetchHandler = (request: Request, connection?: unknown) => Promise<Response>

/** Creates a handler that answers invokes. It ignores the path of the request. */
export function createFetchHandler(options: HandlerOptions | Handler): FetchHandler {
  return createKeptBodyHandler(options)
}

/**
 * Creates the same handler for a framework that may already have read the body. `keptBody` returns the body that the framework
 * then keeps.
 * @internal Called by the Hono adapter.
 */
export function createKeptBodyHandler(
  options: HandlerOptions | Handler,
): (request: Request, connection?: unknown, keptBody?: () => Promise<Uint8Array | undefined>) => Promise<Response> {
  const handler = 'handle' in options ? options : createHandler(options)
  return async (request, connection, keptBody) => {
    // A pass may take longer than Bun keeps a silent connection open.
    if (isConnection(connection) && typeof connection.timeout === 'function') connection.timeout(request, 0)
    if (request.method !== 'POST') return refuse(405, 'An invoke is a POST')
    const rawBody = (await keptBody?.()) ?? (await readBody(request))
    if (rawBody instanceof Response) return rawBody
    const cancellation = new Cancellation()
    const { signal } = request
    if (signal.aborted) cancellation.cancel(signal.reason)
    else signal.addEventListener('abort', () => cancellation.cancel(signal.reason), { once: true })
    const { host } = new URL(request.url)
    const remoteAddress = remoteAddressOf(request, connection)
    return toResponse(await handler.handle({ headers: request.headers, rawBody, host, remoteAddress, cancellation }))
  }
}

/**
 * The value that Bun (its server), Deno (its `info`) and Hono on Node (its `env`) pass with a request. The server of Elysia on
 * Node has it in the request.
 */
interface Connection {
  timeout?(request: Request, seconds: number): void
  requestIP?(request: Request): { address?: string } | null
  remoteAddr?: { hostname?: string }
  incoming?: { socket?: { remoteAddress?: string } }
}

interface NodeBacked {
  runtime?: { node?: { req?: { socket?: { remoteAddress?: string } } } }
}

/** Returns the address of the caller; undefined if the runtime does not pass it. */
function remoteAddressOf(request: Request, connection: unknown): string | undefined {
  const address = (request as NodeBacked).runtime?.node?.req?.socket?.remoteAddress
  if (address !== undefined) return address
  if (!isConnection(connection)) return undefined
  const { remoteAddr, incoming } = connection
  return remoteAddr?.hostname ?? incoming?.socket?.remoteAddress ?? connection.requestIP?.(request)?.address
}

function isConnection(connection: unknown): connection is Connection {
  return typeof connection === 'object' && connection !== null
}

/**
 * Reads the bytes of a body. Resolves with a refusal if it is too large, was cut off, or was read by other code. The last two can
 * be repaired, so they are not a 4xx, which would end the run.
 */
async function readBody(request: Request): Promise<Uint8Array | Response> {
  if (isRead(request)) return refuse(500, BODY_READ_MESSAGE)
  const length = Number(request.headers.get('content-length'))
  if (length > REQUEST_BYTES_MAX) return tooLarge()
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of request.body ?? []) {
      bytes += chunk.byteLength
      if (bytes > REQUEST_BYTES_MAX) return tooLarge()
      chunks.push(chunk)
    }
  } catch (error) {
    return refuse(500, `The body was cut off: ${(error as Error).message}`)
  }
  // Other code has built this request from another one, without its body.
  if (bytes === 0 && length > 0) return refuse(500, BODY_READ_MESSAGE)
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)
}

function isRead(request: Request): boolean {
  try {
    return request.bodyUsed || request.body?.locked === true
  } catch {
    // The request of Elysia on Node cannot create a stream from a body that was read.
    return true
  }
}

function tooLarge(): Response {
  return refuse(413, `At most ${REQUEST_BYTES_MAX} bytes are read`)
}

/** Builds the error response to a request that is not an invoke, or could not be read. */
export function refuse(status: number, message: string): Response {
  return toResponse(refusal(status, message))
}

function toResponse({ status, headers, body }: HandlerResponse): Response {
  return new Response(body, { status, headers })
}
