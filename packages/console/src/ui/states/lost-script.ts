// Scripts that are loaded on demand and did not arrive: the engine cannot be reached, or it was replaced by one with another
// build of the console, whose files have other names.

const lost = new WeakSet<object>()

addEventListener('vite:preloadError', event => {
  const { payload } = event as Event & { payload: unknown }
  if (payload instanceof Error) lost.add(payload)
})

/** Whether this is the error of a script that did not arrive. */
export const isLostScript = (error: Error): boolean => lost.has(error)
