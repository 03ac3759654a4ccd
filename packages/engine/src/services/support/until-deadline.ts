// Waits for work during a stop, up to the deadline of the whole stop. Called by the services that stop.

/** Resolves when the work ends, or at the deadline. All services share one deadline, so none may leave a listener on it. */
export async function untilDeadline(work: Promise<unknown> | undefined, deadline?: AbortSignal): Promise<void> {
  if (!deadline) {
    await work
    return
  }
  let end = () => {}
  const late = new Promise<void>(resolve => {
    end = resolve
  })
  if (deadline.aborted) end()
  deadline.addEventListener('abort', end)
  await Promise.race([work, late]).finally(() => deadline.removeEventListener('abort', end))
}
