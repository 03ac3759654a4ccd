// `@perdure/sdk/next`: serves inside a Next.js app, with route handlers of the App Router or an API route of the Pages
// Router. The types are web standards or shapes, so this file does not import Next.js.

import type { ServerResponse } from 'node:http'
import type { OptionNames } from '@perdure/client/internal'
import { createHandlerFor, HANDLER_OPTIONS, type HandlerOptions } from '../runner/handler.ts'
import { REGISTRATION_OPTIONS, type RegistrationOptions } from '../runner/registration.ts'
import { createFetchHandler } from './fetch.ts'
import { createNextRegistration, type NextRegistration } from './next-registration.ts'
import { createNodeHandler } from './node.ts'
import type { NodeRequest } from './node-body.ts'

/** The workflows to serve in a Next.js app, and how they are registered. */
export interface NextServeOptions extends HandlerOptions, RegistrationOptions {
  /**
   * URL at which the engine reaches the route. Default: on Vercel, the deployment's domain and the path of the request;
   * on a loopback address in development, the URL of the request. Required everywhere else, because the host of a
   * request cannot be trusted.
   */
  url?: string
  /** Register with the engine. Default true. */
  register?: boolean
}

const OPTIONS: OptionNames<NextServeOptions> = {
  ...HANDLER_OPTIONS,
  ...REGISTRATION_OPTIONS,
  url: true,
  register: true,
}

/** A route handler of the App Router. */
export type NextRouteHandler = (request: Request) => Promise<Response>

/** The exports of a `route.ts`. */
export interface NextRoute {
  /** Registers the app if necessary, and returns whether the engine has acknowledged it. */
  GET: NextRouteHandler
  /** Answers an invoke. */
  POST: NextRouteHandler
  /** Registers the app again. Call it once after a deployment. */
  PUT: NextRouteHandler
}

/** An API route of the Pages Router. */
export type NextApiHandler = (request: NodeRequest, response: ServerResponse) => Promise<void>

/**
 * Creates the handlers of a route: `export const { GET, POST, PUT } = serve({ app: 'shop', workflows })` in
 * `app/api/perdure/route.ts`.
 *
 * The first request of a server registers the app, and the server repeats that as its heartbeat. After a deployment,
 * send one `PUT` (or `GET`), so that the engine knows the new workflows before a run needs them.
 */
export function serve(options: NextServeOptions): NextRoute {
  const handler = createHandlerFor('serve', options, OPTIONS)
  const registration = createNextRegistration(handler, options)
  const handle = createFetchHandler(handler)
  return {
    GET: request => stateResponse(registration, request),
    POST: request => {
      registration.begin(request.url)
      return handle(request)
    },
    PUT: request => {
      registration.again(request.url)
      return stateResponse(registration, request)
    },
  }
}

/**
 * Creates an API route: `export default serveApiRoute({ app: 'shop', workflows })` in `pages/api/perdure.ts`. The file
 * must also contain `export const config = { api: { bodyParser: false } }`, since signatures are over the raw body.
 */
export function serveApiRoute(options: NextServeOptions): NextApiHandler {
  const handler = createHandlerFor('serve', options, OPTIONS)
  const registration = createNextRegistration(handler, options)
  const answer = createNodeHandler(handler)
  return async (request, response) => {
    const url = `http://${request.headers.host ?? 'unknown'}${request.url ?? '/'}`
    if (request.method === 'GET' || request.method === 'PUT') {
      if (request.method === 'PUT') registration.again(url)
      const { status, body } = await registration.state(url)
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      return
    }
    registration.begin(url)
    const closed = new Promise<void>(resolve => response.on('close', () => resolve()))
    answer(request, response)
    await closed
  }
}

async function stateResponse(registration: NextRegistration, request: Request): Promise<Response> {
  const { status, body } = await registration.state(request.url)
  return Response.json(body, { status })
}
