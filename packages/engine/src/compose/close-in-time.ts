// Closes the parts of an engine that could not start, within a bounded time: the process must end even if something hangs.

import { within } from '../base/within.ts'

/** With this time the command of a failed start ends within 2 s. */
const CLOSE_MS_MAX = 1000

/** Resolves when `closing` has settled, or its time is over. Its error is ignored: the start failed for another reason. */
export async function closeInTime(closing: Promise<unknown>): Promise<void> {
  await within(
    CLOSE_MS_MAX,
    closing.catch(() => {}),
  )
}
