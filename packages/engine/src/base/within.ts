// Bounds the wait for a promise that may never settle.

/** Returns the value of the promise; undefined if it takes longer than `ms`. Its later end is ignored. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<{ value: T } | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>(resolve => {
    timer = setTimeout(resolve, ms, undefined)
  })
  try {
    return await Promise.race([promise.then(value => ({ value })), late])
  } finally {
    clearTimeout(timer)
  }
}
