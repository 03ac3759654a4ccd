// Reads request bodies: bounds their size and depth, checks that they are UTF-8, parses them, and keeps the text for
// payloads. Installed by app.ts as the only parser of every route.

import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { EngineError } from '../../domain/model/errors.ts'
import { isDeeperThan, JSON_DEPTH_MAX, type JsonText } from '../../domain/text/json-text.ts'

import { type JsonFault, jsonFault } from './json-fault.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route takes the bytes of its body, of any content type, with `rawBodyOf`: the sender signed them. */
    rawBody?: true
    /** Levels of the body above a payload in it; 1 if not given. */
    bodyDepth?: number
  }
}

/** A JSON body: its exact text, and the parsed value. */
export interface Body {
  text: JsonText
  value: unknown
}

/** The request's body; undefined when there is none. */
export function bodyOf(request: FastifyRequest): Body | undefined {
  return request.body as Body | undefined
}

/** The bytes of the body, for a route with `rawBody`; empty when there is none. */
export function rawBodyOf(request: FastifyRequest): Buffer {
  return (request.body as Buffer | undefined) ?? Buffer.alloc(0)
}

const JSON_TYPE = 'application/json'
/** `type/subtype`, perhaps with parameters (RFC 9110, section 8.3.1). */
const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;|$)/

export function addBodyParser(app: FastifyInstance, discardMax: number): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (request, _payload, done) => {
    const bodyMax = request.routeOptions.bodyLimit
    receive(request.raw, { bodyMax, discardMax }, ({ bytes, size, complete }) => {
      const refused = size > bodyMax ? tooLarge(bodyMax) : undefined
      if (refused && !complete) done(refused)
      else done(null, refused ?? (size === 0 ? undefined : takeBody(request, bytes)))
    })
  })
  // Fastify refuses a malformed content type before it calls a parser. Without the header the parser below decides.
  app.addHook('onRequest', ({ raw: { headers } }, _reply, done) => {
    const type = headers['content-type']
    if (type !== undefined && type !== JSON_TYPE && !MEDIA_TYPE.test(type)) delete headers['content-type']
    done()
  })
  // A refusal is passed as the body, not as the parser's error: after an error fastify closes the connection, which is right only
  // if the body was not read to its end.
  app.addHook('preHandler', (request, _reply, done) => {
    done(request.body instanceof EngineError ? request.body : undefined)
  })
}

function tooLarge(bodyMax: number): EngineError {
  return new EngineError('payload_too_large', `the body must not have more than ${bodyMax} bytes`, {
    details: { limit: bodyMax },
  })
}

/** The body in the form that the route takes: bytes or JSON. */
function takeBody(request: FastifyRequest, bytes: Buffer): Buffer | Body | EngineError {
  const { 'content-type': type, 'content-encoding': encoding } = request.headers
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return new EngineError('unsupported_media_type', 'content encodings are not supported')
  }
  const { rawBody, bodyDepth = 1 } = request.routeOptions.config
  return rawBody ? bytes : parseBody(type, bytes, JSON_DEPTH_MAX + bodyDepth)
}

/** 415 unless the type is JSON, 400 unless the body is valid UTF-8 and JSON of at most 200 levels (docs/errors.md#how-requests-are-checked). */
function parseBody(type: string | undefined, bytes: Buffer, depthMax: number): Body | EngineError {
  // A missing type is refused like a wrong one: a web page can send such a request to another origin without a preflight,
  // and without keys nothing else would stop it. Almost every request has exactly JSON_TYPE, so that is compared first.
  if (type !== JSON_TYPE && !/^application\/json\s*(;|$)/i.test(type ?? '')) {
    return new EngineError('unsupported_media_type', 'the content type must be application/json')
  }
  if (!isUtf8(bytes)) return new EngineError('invalid_json', 'the body is not valid UTF-8')
  const text = bytes.toString('utf8')
  if (isDeeperThan(text, depthMax)) {
    return new EngineError('invalid_json', `the body nests deeper than ${JSON_DEPTH_MAX} levels`)
  }
  try {
    return { text, value: parseJson(text) }
  } catch (error) {
    return error as EngineError
  }
}

/** Throws `invalid_json` with the place of the fault. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    const { line, column, isEnd } = jsonFault(text) as JsonFault
    const where = isEnd
      ? `it ends at line ${line}, column ${column}, where more is expected`
      : `line ${line}, column ${column}`
    throw new EngineError('invalid_json', `the body is not valid JSON: ${where}`, { cause, details: { line, column } })
  }
}

interface Received {
  bytes: Buffer
  /** Number of bytes received, or announced if the body was not read. Over the bound, `bytes` is empty. */
  size: number
  /** Whether the body was read to its end. */
  complete: boolean
}

/**
 * Collects the body. A body that is too large is still read to its end (up to `discardMax`) and discarded: closing the connection
 * while the client is sending would reset it before the client can read the refusal. If the client disconnects before the end,
 * `done` is not called.
 */
function receive(
  source: IncomingMessage,
  { bodyMax, discardMax }: { bodyMax: number; discardMax: number },
  done: (received: Received) => void,
): void {
  const chunks: Buffer[] = []
  let size = 0
  const settle = (complete: boolean): void => {
    source.off('data', onData).off('end', onEnd)
    const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
    done({ bytes, size, complete })
  }
  const onData = (chunk: Buffer): void => {
    size += chunk.length
    if (size <= bodyMax) chunks.push(chunk)
    else chunks.length = 0
    if (size > bodyMax + discardMax) settle(false)
  }
  const onEnd = (): void => settle(true)
  const announced = Number(source.headers['content-length'])
  if (announced > bodyMax + discardMax) done({ bytes: Buffer.alloc(0), size: announced, complete: false })
  else source.on('data', onData).on('end', onEnd)
}
