// The `ready` promise of a registration and of a Connect runner.

import type { RegisterReply } from '@perdure/protocol'

/** Creates a promise of the engine's first acknowledgement, and the functions that settle it. */
export function createReady() {
  let resolve: (reply: RegisterReply) => void = () => undefined
  let reject: (error: unknown) => void = () => undefined
  const ready = new Promise<RegisterReply>((onReply, onError) => {
    resolve = onReply
    reject = onError
  })
  // A caller that ignores `ready` must not get an unhandled rejection.
  ready.catch(() => undefined)
  return { ready, resolve, reject }
}
