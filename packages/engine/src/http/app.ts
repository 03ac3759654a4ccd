// The HTTP face of the engine: one fastify app with its hooks, error paths, timeouts and routes. Made by
// compose.ts, which also listens and closes.

import { randomBytes } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import { EngineError } from '../domain/errors.ts'
import { logAccess } from './access-log.ts'
import { addBodyParser } from './body.ts'
import type { HttpContext } from './context.ts'
import type { HttpDeps } from './deps.ts'
import { Drain } from './drain.ts'
import { HTTP_LIMITS, type HttpLimits } from './limits.ts'
import { problemText, sendProblem } from './problem.ts'
import { RouteTable } from './route-table.ts'
import { controlRoutes } from './routes/control.ts'
import { eventRoutes } from './routes/events.ts'
import { healthRoutes } from './routes/health.ts'
import { registerRoutes } from './routes/register.ts'
import { registryRoutes } from './routes/registry.ts'
import { runStreamRoutes } from './routes/run-stream.ts'
import { runRoutes } from './routes/runs.ts'

export function createApp(deps: HttpDeps, overrides: Partial<HttpLimits> = {}): FastifyInstance {
  const limits = { ...HTTP_LIMITS, ...overrides }
  const context: HttpContext = { deps, limits, drain: new Drain() }
  const app = newFastify(context)
  app.decorateRequest('actor')
  addBodyParser(app, limits.discardMax)
  app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply, deps.log))
  addEntry(app, deps)
  // The sockets are cut (forceCloseConnections) when this is done.
  app.addHook('preClose', () => context.drain.run(deps.clock, limits.drainMs))

  healthRoutes(app, context)
  eventRoutes(app, context)
  registerRoutes(app, context)
  runRoutes(app, context)
  runStreamRoutes(app, context)
  controlRoutes(app, context)
  registryRoutes(app, context)
  return app
}

function newFastify({ deps, limits }: HttpContext): FastifyInstance {
  const newRequestId = requestIds()
  return Fastify({
    // Our own access log instead: fastify's would cost a child logger per request.
    logger: false,
    // Nothing here is loaded in the background, so there is no start to time: a busy process must not fail by it.
    pluginTimeout: 0,
    bodyLimit: limits.bodyMax,
    genReqId: newRequestId,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionTimeout: limits.silenceMs,
    http: { headersTimeout: limits.headersTimeoutMs, connectionsCheckingInterval: limits.timeoutCheckMs },
    routerOptions: { maxParamLength: 256 },
    // The drain refuses with our error body, and cuts what is left when the requests in flight are done.
    return503OnClosing: false,
    forceCloseConnections: true,
    frameworkErrors: (error, request, reply) => {
      if (deps.log.isLevelEnabled('debug')) logAccess(deps.log, 'debug', request, reply)
      sendProblem(error, request, reply, deps.log)
    },
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, newRequestId()),
  })
}

/** `req_`, a prefix made at start that tells engines apart, and a counter. */
function requestIds(): () => string {
  const prefix = `req_${randomBytes(4).toString('hex')}`
  let count = 0
  return () => `${prefix}${(++count).toString(36)}`
}

/** What happens first to every request; and to one that no route takes, all that happens. */
function addEntry(app: FastifyInstance, { log }: HttpDeps): void {
  const table = new RouteTable()
  app.addHook('onRoute', ({ url, method }) => table.add(url, method))
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    if (!request.is404) return done()
    if (log.isLevelEnabled('debug')) logAccess(log, 'debug', request, reply)
    const path = request.url.split('?', 1)[0] as string
    done(table.refusal(path))
  })
}

/** Bytes that are no HTTP request, or not one in time: there is no request to answer, only a socket. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket, requestId: string): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const [status, message] = brokenRequest(error.code)
  const body = problemText(new EngineError('invalid_request', message), requestId)
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}

function brokenRequest(code: string | undefined): [number, string] {
  if (code === 'HPE_HEADER_OVERFLOW') return [431, 'the URL and headers are too large']
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return [408, 'the request was not sent in time']
  return [400, 'the request is malformed']
}
