// Serving inside a Next.js app: route handlers of the App Router, and an API route of the Pages Router. Typed by
// web standards and by shape, so that this file needs nothing of Next at run time.

import type { ServerResponse } from 'node:http'
import { createHandler, type HandlerOptions } from '../handler.ts'
import type { RegistrationOptions } from '../registration.ts'
import { createFetchHandler } from './fetch.ts'
import { createNextRegistration, type NextRegistration } from './next-registration.ts'
import { createNodeHandler } from './node.ts'
import type { NodeRequest } from './node-body.ts'

/** What to serve in a Next.js app, and how the engine learns of it. */
export interface NextServeOptions extends HandlerOptions, RegistrationOptions {
  /**
   * URL the engine reaches the route at. Default: on Vercel, the deployment's domain and the path of the request;
   * on a machine of one's own, the address of the request. Needed everywhere else: what a request says of its host
   * cannot be trusted.
   */
  url?: string
  /** Register with the engine. Default true. */
  register?: boolean
}

/** A route handler of the App Router. */
export type NextRouteHandler = (request: Request) => Promise<Response>

/** What a `route.ts` exports. */
export interface NextRoute {
  /** Registers, unless that is done, and tells whether the engine knows this app. */
  GET: NextRouteHandler
  /** Answers an invoke. */
  POST: NextRouteHandler
  /** Registers anew: to be called once after a deployment. */
  PUT: NextRouteHandler
}

/** An API route of the Pages Router. */
export type NextApiHandler = (request: NodeRequest, response: ServerResponse) => Promise<void>

/**
 * `export const { GET, POST, PUT } = serve({ app: 'shop', workflows })` in `app/api/perdure/route.ts`.
 *
 * The first request of a server registers the app, and a server that lives on repeats it as its heartbeat. After
 * a deployment, one `PUT` (or `GET`) makes the engine know its workflows before any run needs them.
 */
export function serve(options: NextServeOptions): NextRoute {
  const handler = createHandler(options)
  const registration = createNextRegistration(handler, options)
  const handle = createFetchHandler(handler)
  return {
    GET: request => tell(registration, request),
    POST: request => {
      registration.begin(request.url)
      return handle(request)
    },
    PUT: request => {
      registration.again(request.url)
      return tell(registration, request)
    },
  }
}

/**
 * `export default serveApiRoute({ app: 'shop', workflows })` in `pages/api/perdure.ts`, which must also say
 * `export const config = { api: { bodyParser: false } }`: signatures are over the raw body.
 */
export function serveApiRoute(options: NextServeOptions): NextApiHandler {
  const handler = createHandler(options)
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

async function tell(registration: NextRegistration, request: Request): Promise<Response> {
  const { status, body } = await registration.state(request.url)
  return Response.json(body, { status })
}
