// Lets a runner leave by itself before the process ends, if the server belongs to the user. Called by the adapters of Express,
// Hono, Fastify and Elysia.

import { setTimeout as delay } from 'node:timers/promises'
import { closeOnSignals } from './close-on-signals.ts'
import type { Handler } from './handler.ts'
import type { Registration } from './registration.ts'

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

/** Returns the registration, which leaves at the first SIGTERM or SIGINT until it is stopped or has left. */
export function leavingOnSignals(
  registration: Registration,
  handler: CountedHandler,
  { handleSignals = true }: SignalOptions,
): Registration {
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
