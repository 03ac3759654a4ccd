// The HTTP interface of the engine: one fastify app with its hooks, error paths, timeouts and routes. Created by
// compose/http.ts.

import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, type HTTPMethods } from 'fastify'
import { EngineError } from '../domain/model/errors.ts'
import { logAccess } from './access/access-log.ts'
import type { HttpContext } from './access/context.ts'
import { addCors, isPreflight } from './access/cors.ts'
import type { HttpDeps } from './access/deps.ts'
import { Drain } from './access/drain.ts'
import { KeyGuesses } from './access/key-guesses.ts'
import { RouteTable } from './access/route-table.ts'
import { OpenCounts } from './bounds/open-counts.ts'
import { connectRoutes } from './connect/hub.ts'
import { consoleRoutes } from './console/routes.ts'
import { RunFeeds } from './live/run-feed.ts'
import { StreamFeeds } from './live/stream-feed.ts'
import { mcpRoute } from './mcp/route.ts'
import { addBodyParser } from './request/body.ts'
import { HTTP_LIMITS } from './request/limits.ts'
import { sendProblem } from './response/problem.ts'
import { PROTECTIVE_HEADERS } from './response/protective-headers.ts'
import { rawResponse } from './response/raw-response.ts'
import { bundleRoutes } from './routes/bundle/bundle.ts'
import { callbackRoutes } from './routes/event/callbacks.ts'
import { eventRoutes } from './routes/event/events.ts'
import { namespaceStreamRoutes } from './routes/event/namespace-streams.ts'
import { redriveRoutes } from './routes/event/redrive.ts'
import { scheduledEventRoutes } from './routes/event/scheduled-events.ts'
import { scheduleRoutes } from './routes/event/schedules.ts'
import { signalRoutes } from './routes/event/signals.ts'
import { keyRoutes } from './routes/operating/keys.ts'
import { operatingRoutes } from './routes/operating/operating.ts'
import { sessionRoutes } from './routes/operating/session.ts'
import { topicStreamRoute } from './routes/operating/stream.ts'
import { viewRoutes } from './routes/operating/views.ts'
import { bufferRoutes } from './routes/registry/buffers.ts'
import { limitRoutes } from './routes/registry/limits.ts'
import { registryRoutes } from './routes/registry/registry.ts'
import { bulkRoutes } from './routes/run/bulk.ts'
import { controlRoutes } from './routes/run/control.ts'
import { errorRoutes } from './routes/run/errors.ts'
import { runTokenRoutes } from './routes/run/live/run-tokens.ts'
import { passCheckpointRoutes } from './routes/run/pass-checkpoints.ts'
import { resultRoutes } from './routes/run/results.ts'
import { runListRoutes } from './routes/run/run-list.ts'
import { runPassRoutes } from './routes/run/run-passes.ts'
import { runStepRoutes } from './routes/run/run-steps.ts'
import { runStreamRoutes } from './routes/run/run-stream.ts'
import { runRoutes } from './routes/run/runs.ts'
import { startRoutes } from './routes/run/starts.ts'
import { statisticsRoutes } from './routes/run/statistics.ts'
import { treeRoutes } from './routes/run/trees.ts'
import { runStreamsRoutes } from './routes/run-streams/run-streams.ts'
import { webhookDeliveryRoutes } from './routes/webhook/deliveries.ts'
import { webhookEndpointRoutes } from './routes/webhook/endpoints.ts'
import { webhookReceiverRoutes } from './routes/webhook/receivers.ts'

export function createApp(deps: HttpDeps): FastifyInstance {
  const limits = { ...HTTP_LIMITS, ...deps.limits }
  const { streams: perNamespace, keyStreams: perKey } = deps.openLimits
  const streams = new OpenCounts({ name: 'streams', all: limits.streamsMax, perNamespace, perKey })
  const runFeeds = new RunFeeds({ ...deps, limits })
  const streamFeeds = new StreamFeeds({ ...deps, limits })
  const context: HttpContext = { deps, limits, drain: new Drain(), guesses: new KeyGuesses(deps), streams }
  const app = newFastify(context)
  app.decorateRequest('actor')
  addBodyParser(app, limits.discardMax)
  app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply, deps.log))
  const refuseAmbiguousPaths = addEntryHooks(app, deps)
  // A server may ignore an unknown `Expect` (RFC 9110, section 10.1.1); node would refuse it without a body.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  // Fastify closes the sockets (forceCloseConnections) after the drain.
  app.addHook('preClose', () => context.drain.run(deps.clock, limits.drainMs))

  operatingRoutes(app, context)
  eventRoutes(app, context)
  scheduledEventRoutes(app, context)
  scheduleRoutes(app, context)
  connectRoutes(app, context)
  passCheckpointRoutes(app, context)
  runListRoutes(app, context)
  errorRoutes(app, context)
  viewRoutes(app, context)
  redriveRoutes(app, context)
  startRoutes(app, context)
  statisticsRoutes(app, context)
  runRoutes(app, context)
  runStreamRoutes(app, context, runFeeds)
  runStreamsRoutes(app, context, streamFeeds)
  resultRoutes(app, context)
  runTokenRoutes(app, context)
  runStepRoutes(app, context)
  runPassRoutes(app, context)
  treeRoutes(app, context)
  bundleRoutes(app, context)
  namespaceStreamRoutes(app, context)
  topicStreamRoute(app, context, { runFeeds, streamFeeds })
  controlRoutes(app, context)
  callbackRoutes(app, context)
  signalRoutes(app, context)
  bulkRoutes(app, context)
  registryRoutes(app, context)
  limitRoutes(app, context)
  bufferRoutes(app, context)
  webhookDeliveryRoutes(app, context)
  webhookEndpointRoutes(app, context)
  webhookReceiverRoutes(app, context)
  sessionRoutes(app, context)
  keyRoutes(app, context)
  mcpRoute(app, context)
  consoleRoutes(app, context)
  refuseAmbiguousPaths()
  return app
}

function newFastify({ deps, limits }: HttpContext): FastifyInstance {
  const newRequestId = requestIds()
  return Fastify({
    // authorize.ts logs instead: fastify would create a child logger for each request.
    logger: false,
    schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
    // No plugin loads asynchronously, so a slow start on a busy machine is not a fault.
    pluginTimeout: 0,
    bodyLimit: limits.bodyMax,
    genReqId: newRequestId,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionTimeout: limits.silenceMs,
    http: {
      headersTimeout: limits.headersTimeoutMs,
      connectionsCheckingInterval: limits.timeoutCheckMs,
      // Node would refuse without our error body; `addEntryHooks` refuses with one.
      requireHostHeader: false,
    },
    // The token of a callback names the namespace, the run and the step.
    routerOptions: { maxParamLength: 1024 },
    // The drain refuses with our error body, and cuts the remaining sockets after the requests in flight.
    return503OnClosing: false,
    forceCloseConnections: true,
    frameworkErrors: (error, request, reply) => {
      if (deps.log.isLevelEnabled('debug')) logAccess(deps.log, 'debug', request, reply)
      sendProblem(error, request, reply, deps.log)
    },
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, newRequestId()),
  })
}

/** Routes have no fastify schema, since validate.ts checks bodies. Loading fastify's compilers would take 60 ms. */
function noCompiler(): never {
  throw new Error('a route has a schema of fastify')
}

/** Ids of requests: `req_`, a random prefix of this process, and a counter. */
function requestIds(): () => string {
  const prefix = `req_${randomBytes(4).toString('hex')}`
  let count = 0
  return () => `${prefix}${(++count).toString(36)}`
}

/**
 * Adds the hooks that run first on every request, and that refuse requests without a route. Returns a function to call
 * after the routes are added: it keeps routes with an id from answering for literal paths.
 */
function addEntryHooks(app: FastifyInstance, { log, corsOrigins }: HttpDeps): () => void {
  const table = new RouteTable()
  const refusal = (request: FastifyRequest, reply: FastifyReply): EngineError => {
    if (log.isLevelEnabled('debug')) logAccess(log, 'debug', request, reply)
    const { url, config } = request.routeOptions
    return table.refusal((config.refused ? url : request.url.split('?', 1)[0]) as string)
  }
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id).headers(PROTECTIVE_HEADERS)
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      done(new EngineError('invalid_request', 'the Host header is required'))
      return
    }
    done(request.method === 'OPTIONS' && !isPreflight(request) ? refusal(request, reply) : undefined)
  })
  // Before the table, which must not list the route of preflights, and before the refusals below, so that a page can read them.
  addCors(app, corsOrigins)
  app.addHook('onRoute', ({ url, method, config }) => {
    // A preflight is not a method of its path.
    if (!config?.refused && method !== 'OPTIONS') table.add(url, method)
  })
  app.addHook('onRequest', (request, reply, done) => {
    done(request.is404 || request.routeOptions.config.refused ? refusal(request, reply) : undefined)
  })
  return () => {
    for (const { url, methods } of table.ambiguous) {
      app.route({ method: methods as HTTPMethods[], url, config: { refused: true }, handler: async () => {} })
    }
  }
}

/** Answers bytes that are not an HTTP request, or a request that did not arrive in time: there is only a socket to write to. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket, requestId: string): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const [status, message] = brokenRequest(error.code)
  const problem = new EngineError('invalid_request', message)
  socket.end(rawResponse(status, problem, requestId), () => socket.destroy())
}

function brokenRequest(code: string | undefined): [number, string] {
  if (code === 'HPE_HEADER_OVERFLOW') return [431, 'the URL and headers are too large']
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return [408, 'the request was not sent in time']
  return [400, 'the request is malformed']
}
