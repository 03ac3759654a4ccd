// Closes the parts of an engine that could not start, within a bounded time: the process must end even if something hangs.

/** With this time the command of a failed start ends within 2 s. */
const CLOSE_MS_MAX = 1000

/** Resolves when `closing` has settled, or its time is over. Its error is ignored: the start failed for another reason. */
export async function closeInTime(closing: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>(resolve => {
    timer = setTimeout(resolve, CLOSE_MS_MAX)
  })
  await Promise.race([closing.catch(() => {}), late])
  clearTimeout(timer)
}
