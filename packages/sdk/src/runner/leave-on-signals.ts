// Registers a runner whose server belongs to the user, and lets it leave by itself before the process ends. Called by the adapters
// of Express, Hono, Fastify and Elysia.

import { setTimeout as delay } from 'node:timers/promises'
import { closeOnSignals } from './close-on-signals.ts'
import { HANDLER_OPTIONS, type Handler } from './handler.ts'
import { REGISTRATION_OPTIONS, type Registration, type RegistrationOptions, startRegistration } from './registration.ts'

/** Time in which the server sends the last answer: the adapter does not see when the bytes have been sent. */
const LAST_ANSWER_MS = 100

/** How an adapter in the user's server shuts down. */
export interface SignalOptions {
  /**
   * At SIGTERM and SIGINT, notify the engine that the runner leaves and wait for the passes in flight; then the process ends, unless
   * it has other listeners for the signal. A second signal ends it at once. Default true.
   */
  handleSignals?: boolean
}

/** Names of the options of every adapter in the user's server. */
export const ADAPTER_OPTIONS = {
  ...HANDLER_OPTIONS,
  ...REGISTRATION_OPTIONS,
  handleSignals: true,
  path: true,
  url: true,
} as const

/** A handler that counts its passes. */
export interface CountedHandler extends Handler {
  /** Resolves when no pass is in flight and the last answer has had time to be sent. */
  idle(): Promise<void>
}

/** Counts the passes of a handler. */
export function counted(handler: Handler): CountedHandler {
  const inFlight = new Set<Promise<unknown>>()
  return {
    ...handler,
    handle(request) {
      const answer = handler.handle(request)
      inFlight.add(answer)
      return answer.finally(() => inFlight.delete(answer))
    },
    async idle() {
      if (inFlight.size === 0) return
      while (inFlight.size > 0) await Promise.all(inFlight)
      await delay(LAST_ANSWER_MS)
    },
  }
}

/** Starts a registration, which leaves at the first SIGTERM or SIGINT until it is stopped or has left. */
export function startLeavingOnSignals(
  handler: CountedHandler,
  serving: { url: string; framework: string },
  options: RegistrationOptions & SignalOptions,
): Registration {
  const registration = startRegistration(handler, serving, options)
  const { handleSignals = true } = options
  if (!handleSignals) return registration
  const forget = closeOnSignals(async () => {
    await registration.leave()
    await handler.idle()
  })
  return {
    ready: registration.ready,
    stop() {
      forget()
      registration.stop()
    },
    leave() {
      forget()
      return registration.leave()
    },
  }
}
