// Registers a Next.js app with its first request, because Next.js calls no code when a server starts. Called by `next.ts`.

import { setTimeout as delay } from 'node:timers/promises'
import { ConfigError, PerdureError } from '@perdure/client'
import type { Handler } from '../runner/handler.ts'
import { type Registration, type RegistrationOptions, startRegistration } from '../runner/registration.ts'
import { StateLog } from '../runner/state-log.ts'

/** The response to a `GET` of the route. */
interface NextState {
  status: 200 | 503
  body: { app: string; workflows: number; registered: boolean; runnerId?: string; error?: string }
}

export interface NextRegistration {
  /** Registers in the background, unless that has already begun. `requestUrl` is the URL of the current request. */
  begin(requestUrl: string): void
  /** Registers again. */
  again(requestUrl: string): void
  /** Returns whether the engine has acknowledged the registration. Waits for that up to `ACKNOWLEDGE_MS_MAX`. */
  state(requestUrl: string): Promise<NextState>
}

const ACKNOWLEDGE_MS_MAX = 5_000

/** Registrations by URL. When a development server reloads the module, the new module stops the registration of the old. */
const REGISTRATIONS = Symbol.for('perdure.next.registrations')
const holder = globalThis as typeof globalThis & { [REGISTRATIONS]?: Map<string, Registration> }
holder[REGISTRATIONS] ??= new Map()
const registrations = holder[REGISTRATIONS]

export function createNextRegistration(
  handler: Handler,
  options: RegistrationOptions & { url?: string; register?: boolean },
): NextRegistration {
  let current: Registration | undefined
  let problem = options.register === false ? 'The app does not register: `register` is false' : undefined
  const again = (requestUrl: string) => {
    if (options.register === false) return
    const url = options.url ?? deployedUrl(requestUrl) ?? loopbackUrl(requestUrl)
    problem = url === undefined ? 'The adapter does not know its address: give `serve` a `url`' : undefined
    if (url === undefined) return
    registrations.get(url)?.stop()
    try {
      current = startRegistration(handler, { url, framework: 'next' }, options)
      registrations.set(url, current)
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      problem = error.message
    }
  }
  const begin = (requestUrl: string) => {
    if (current) return
    const before = problem
    again(requestUrl)
    if (problem === undefined || problem === before) return
    new StateLog(options).write('error', problem)
    options.onError?.(new PerdureError({ code: 'invalid_request', status: 0, message: problem }))
  }
  return {
    begin,
    again,
    async state(requestUrl) {
      begin(requestUrl)
      const about = { app: handler.app, workflows: handler.workflows.length }
      const runnerId = await acknowledged(current).catch((error: Error) => {
        problem ??= error.message
        return undefined
      })
      if (runnerId !== undefined) return { status: 200, body: { ...about, registered: true, runnerId } }
      const error = problem ?? 'The engine does not answer'
      return { status: 503, body: { ...about, registered: false, error } }
    },
  }
}

/** Returns the runner id from the first acknowledgement; undefined when it takes too long. */
async function acknowledged(registration: Registration | undefined): Promise<string | undefined> {
  if (!registration) return undefined
  const late = delay(ACKNOWLEDGE_MS_MAX, undefined, { ref: false })
  return (await Promise.race([registration.ready, late]))?.runnerId
}

/** Returns the URL of a deployment on Vercel, whose environment variables contain the domain. */
function deployedUrl(requestUrl: string): string | undefined {
  const { VERCEL_ENV, VERCEL_URL, VERCEL_PROJECT_PRODUCTION_URL } = process.env
  const host = (VERCEL_ENV === 'production' && VERCEL_PROJECT_PRODUCTION_URL) || VERCEL_URL
  return host ? `https://${host}${new URL(requestUrl).pathname}` : undefined
}

/** Returns the URL of the request, but only on a loopback address: behind a proxy the URL may be wrong. */
function loopbackUrl(requestUrl: string): string | undefined {
  if (process.env.NODE_ENV === 'production') return undefined
  const { protocol, hostname, host, pathname } = new URL(requestUrl)
  const isLoopback = ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
  return isLoopback ? `${protocol}//${host}${pathname}` : undefined
}
