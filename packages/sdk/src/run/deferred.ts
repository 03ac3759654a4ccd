// Promises that other code settles.

/** Creates a promise and the functions that settle it. If nobody awaits it, a rejection is not reported as unhandled. */
export function deferred<T = void>() {
  let resolve: (value: T) => void = () => undefined
  let reject: (error: unknown) => void = () => undefined
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue
    reject = onError
  })
  promise.catch(() => undefined)
  return { promise, resolve, reject }
}
