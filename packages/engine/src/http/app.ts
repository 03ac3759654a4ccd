// The HTTP face of the engine: one fastify app with its hooks, error paths, timeouts and routes. Made by
// compose.ts, which also listens and closes.

import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type HTTPMethods,
} from 'fastify'
import { EngineError } from '../domain/model/errors.ts'
import { logAccess } from './access/access-log.ts'
import type { HttpContext } from './access/context.ts'
import { addCors, isPreflight } from './access/cors.ts'
import type { HttpDeps } from './access/deps.ts'
import { Drain } from './access/drain.ts'
import { RouteTable } from './access/route-table.ts'
import { connectRoutes } from './connect/route.ts'
import { addBodyParser } from './request/body.ts'
import { HTTP_LIMITS } from './request/limits.ts'
import { sendProblem } from './response/problem.ts'
import { rawAnswer } from './response/raw-answer.ts'
import { eventRoutes } from './routes/event/events.ts'
import { namespaceStreamRoutes } from './routes/event/namespace-streams.ts'
import { healthRoutes } from './routes/operating/health.ts'
import { metricsRoutes } from './routes/operating/metrics.ts'
import { openApiRoutes } from './routes/operating/openapi.ts'
import { registerRoutes } from './routes/registry/register.ts'
import { registryRoutes } from './routes/registry/registry.ts'
import { controlRoutes } from './routes/run/control.ts'
import { runListRoutes } from './routes/run/run-list.ts'
import { runStreamRoutes } from './routes/run/run-stream.ts'
import { runRoutes } from './routes/run/runs.ts'
import { webhookDeliveryRoutes } from './routes/webhook/deliveries.ts'
import { webhookEndpointRoutes } from './routes/webhook/endpoints.ts'
import { webhookReceiverRoutes } from './routes/webhook/receivers.ts'

export function createApp(deps: HttpDeps): FastifyInstance {
  const limits = { ...HTTP_LIMITS, ...deps.limits }
  const context: HttpContext = { deps, limits, drain: new Drain() }
  const app = newFastify(context)
  app.decorateRequest('actor')
  addBodyParser(app, limits.discardMax)
  app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply, deps.log))
  const refuseTaken = addEntry(app, deps)
  // An `Expect` that nobody knows may be ignored (RFC 9110, section 10.1.1); node would answer without a body.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  // The sockets are cut (forceCloseConnections) when this is done.
  app.addHook('preClose', () => context.drain.run(deps.clock, limits.drainMs))

  healthRoutes(app, context)
  metricsRoutes(app, context)
  eventRoutes(app, context)
  registerRoutes(app, context)
  connectRoutes(app, context)
  runListRoutes(app, context)
  runRoutes(app, context)
  runStreamRoutes(app, context)
  namespaceStreamRoutes(app, context)
  controlRoutes(app, context)
  registryRoutes(app, context)
  webhookDeliveryRoutes(app, context)
  webhookEndpointRoutes(app, context)
  webhookReceiverRoutes(app, context)
  openApiRoutes(app, context)
  refuseTaken()
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
    http: {
      headersTimeout: limits.headersTimeoutMs,
      connectionsCheckingInterval: limits.timeoutCheckMs,
      // Node would refuse in its own words; `addEntry` does in ours.
      requireHostHeader: false,
    },
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

/**
 * What happens first to every request; and to one that no route takes, all that happens. To be called when the routes are
 * there: keeps those with an id from taking the literal paths.
 */
function addEntry(app: FastifyInstance, { log, corsOrigins }: HttpDeps): () => void {
  const table = new RouteTable()
  const refusal = (request: FastifyRequest, reply: FastifyReply): EngineError => {
    if (log.isLevelEnabled('debug')) logAccess(log, 'debug', request, reply)
    const { url, config } = request.routeOptions
    return table.refusal((config.refused ? url : request.url.split('?', 1)[0]) as string)
  }
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      done(new EngineError('invalid_request', 'the Host header is required'))
      return
    }
    done(request.method === 'OPTIONS' && !isPreflight(request) ? refusal(request, reply) : undefined)
  })
  // Ahead of the table, which must not know the route that catches preflights; and ahead of the refusals below, so
  // that a page can read them.
  addCors(app, corsOrigins)
  app.addHook('onRoute', ({ url, method, config }) => {
    if (!config?.refused) table.add(url, method)
  })
  app.addHook('onRequest', (request, reply, done) => {
    done(request.is404 || request.routeOptions.config.refused ? refusal(request, reply) : undefined)
  })
  return () => {
    for (const { url, methods } of table.taken) {
      app.route({ method: methods as HTTPMethods[], url, config: { refused: true }, handler: async () => {} })
    }
  }
}

/** Bytes that are no HTTP request, or not one in time: there is no request to answer, only a socket. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket, requestId: string): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const [status, message] = brokenRequest(error.code)
  const problem = new EngineError('invalid_request', message)
  socket.end(rawAnswer(status, problem, requestId), () => socket.destroy())
}

function brokenRequest(code: string | undefined): [number, string] {
  if (code === 'HPE_HEADER_OVERFLOW') return [431, 'the URL and headers are too large']
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return [408, 'the request was not sent in time']
  return [400, 'the request is malformed']
}
