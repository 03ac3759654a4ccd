// Reads request bodies and takes them to the letter: raw bytes, checked as UTF-8, bounded in size and depth,
// parsed, with the text kept for payloads. Installed by `app.ts` as the one parser of every route.

import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { EngineError } from '../../domain/model/errors.ts'
import { isDeeperThan, JSON_DEPTH_MAX, type JsonText } from '../../domain/text/json-text.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route takes its body to the byte and of any type, by `rawBodyOf`: somebody signed it. */
    rawBody?: true
  }
}

/** A JSON body: its text to the letter, and what it parses to. */
export interface Body {
  text: JsonText
  value: unknown
}

/** The request's body; undefined when there is none. */
export function bodyOf(request: FastifyRequest): Body | undefined {
  return request.body as Body | undefined
}

/** The body to the byte, of a route whose config asks for it; empty when there is none. */
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
  // Fastify refuses a type that it cannot read before it asks for a parser; ours say themselves what they take.
  app.addHook('onRequest', ({ raw: { headers } }, _reply, done) => {
    const type = headers['content-type']
    if (type !== undefined && type !== JSON_TYPE && !MEDIA_TYPE.test(type)) delete headers['content-type']
    done()
  })
  // A refusal comes as the body, not as the parser's error: after an error fastify closes the connection,
  // which is right only where the body was not read to its end.
  app.addHook('preHandler', (request, _reply, done) => {
    done(request.body instanceof EngineError ? request.body : undefined)
  })
}

function tooLarge(bodyMax: number): EngineError {
  return new EngineError('payload_too_large', `the body must not have more than ${bodyMax} bytes`, {
    details: { limit: bodyMax },
  })
}

/** As the route takes it: to the byte, or as JSON. */
function takeBody(request: FastifyRequest, bytes: Buffer): Buffer | Body | EngineError {
  const { 'content-type': type, 'content-encoding': encoding } = request.headers
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return new EngineError('unsupported_media_type', 'content encodings are not supported')
  }
  return request.routeOptions.config.rawBody ? bytes : parseBody(type, bytes)
}

/** Decisions, "Errors, limits, auth": 415 unless JSON, 400 unless UTF-8, at most 200 levels deep, and valid. */
function parseBody(type: string | undefined, bytes: Buffer): Body | EngineError {
  // A missing type is refused like a wrong one: a web page can send such a request to another origin without
  // asking, and where no key is configured nothing else would stop it. Almost every request says exactly this.
  if (type !== JSON_TYPE && !/^application\/json\s*(;|$)/i.test(type ?? '')) {
    return new EngineError('unsupported_media_type', 'the content type must be application/json')
  }
  if (!isUtf8(bytes)) return new EngineError('invalid_json', 'the body is not valid UTF-8')
  const text = bytes.toString('utf8')
  // The bound is the payload's, which lies one level down in every body that carries one.
  if (isDeeperThan(text, JSON_DEPTH_MAX + 1)) {
    return new EngineError('invalid_json', `the body nests deeper than ${JSON_DEPTH_MAX} levels`)
  }
  try {
    return { text, value: JSON.parse(text) }
  } catch (cause) {
    return new EngineError('invalid_json', 'the body is not valid JSON', { cause })
  }
}

interface Received {
  bytes: Buffer
  /** Bytes sent (or, of a body that was not read at all, announced). `bytes` is empty when they are too many. */
  size: number
  /** Whether the body was read to its end. */
  complete: boolean
}

/**
 * Collects the body. One that is too large is still read to its end (up to `discardMax`) and thrown away:
 * closing the connection under a client that is sending would reset it before it can read the refusal. When
 * the client leaves in the middle nothing more comes, and nobody is left to answer: `done` is not called.
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
