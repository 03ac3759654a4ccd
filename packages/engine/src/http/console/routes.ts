// Serves the console: its files, and its page at every path that has no file (docs/console.md). The files need no key: they are
// not secret, and they read the engine through its interface, which needs one. Mounted by app.ts.

import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { EngineError } from '../../domain/model/errors.ts'
import { refuseForeignHost } from '../access/auth.ts'
import type { HttpContext } from '../access/context.ts'
import { type ConsoleFile, etagOf } from '../response/console-files.ts'
import { acceptedEncoding } from '../response/encoding.ts'

/**
 * No inline script or style, no address but the engine's own, no frame around the page, and no HTML from text: the browser
 * refuses what the code forgets to prevent.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types perdure',
].join('; ')

const HEADERS = {
  'content-security-policy': POLICY,
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
} as const

const FOREVER = 'public, max-age=31536000, immutable'

export function consoleRoutes(app: FastifyInstance, { deps }: HttpContext): void {
  const { console } = deps
  if (!console) return
  const { files, prefix } = console
  const pages = new Map<boolean, ConsoleFile>()
  const page = (isOpen: boolean): ConsoleFile => {
    const made = pages.get(isOpen) ?? pageOf(console, isOpen)
    pages.set(isOpen, made)
    return made
  }
  const home = `${prefix}/console/`
  const onRequest = (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void) => {
    done(deps.keys.open ? refusalOf(request.headers.host) : undefined)
  }
  app.get<{ Params: { '*': string } }>('/console/assets/*', { onRequest }, async (request, reply) => {
    const file = files.assets.get(request.params['*'])
    if (!file) throw new EngineError('not_found', 'this version of the console has no such file: reload the page')
    return send(request, reply.header('cache-control', FOREVER), file)
  })
  app.get('/console/*', { onRequest }, async (request, reply) =>
    send(request, reply.header('cache-control', 'no-cache'), page(deps.keys.open)),
  )
  app.get('/console', { onRequest }, async (_request, reply) => reply.redirect(home, 308))
  app.get('/', { onRequest }, async (request, reply) => {
    if (!String(request.headers.accept).includes('text/html')) throw new EngineError('not_found', 'no such path')
    return reply.redirect(home, 302)
  })
}

function refusalOf(host: string | undefined): Error | undefined {
  try {
    refuseForeignHost(host)
    return undefined
  } catch (error) {
    return error as Error
  }
}

/**
 * Returns the page, compressed. It contains the address of the engine and the settings that the console needs before its first
 * request.
 */
function pageOf(
  { files, prefix, hidesPayloads }: NonNullable<HttpContext['deps']['console']>,
  isOpen: boolean,
): ConsoleFile {
  const attribute = prefix.replace(/[&"<>]/g, character => `&#${character.charCodeAt(0)};`)
  const text = files.index
    .replaceAll('"./assets/', `"${attribute}/console/assets/`)
    .replace('name="perdure-base" content=""', `name="perdure-base" content="${attribute}"`)
    .replace('name="perdure-payloads" content="1"', `name="perdure-payloads" content="${hidesPayloads ? 0 : 1}"`)
    .replace('name="perdure-open" content="0"', `name="perdure-open" content="${isOpen ? 1 : 0}"`)
  const plain = Buffer.from(text)
  const [br, gzip] = [brotliCompressSync(plain), gzipSync(plain)]
  return { type: 'text/html; charset=utf-8', etag: etagOf(plain), plain, br, gzip }
}

function send(request: FastifyRequest, reply: FastifyReply, file: ConsoleFile): FastifyReply {
  const encoding = acceptedEncoding(request.headers['accept-encoding'])
  const bytes = encoding === undefined ? undefined : file[encoding]
  reply.headers({ ...HEADERS, etag: file.etag, vary: 'Accept-Encoding' })
  if (isKnown(request.headers['if-none-match'], file.etag)) return reply.code(304).send()
  if (encoding !== undefined && bytes) reply.header('content-encoding', encoding)
  return reply.header('content-type', file.type).send(bytes ?? file.plain)
}

/** Whether an `If-None-Match` header names the tag (RFC 9110, section 13.1.2). A proxy may have made the tag weak. */
function isKnown(header: string | undefined, etag: string): boolean {
  return header?.split(',').some(each => ['*', etag].includes(each.trim().replace(/^W\//, ''))) ?? false
}
