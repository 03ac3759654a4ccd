// Reads facts about a run in addition to its output stream: whether the chunks so far can still be withdrawn, and why the run
// failed. Used by the chat of `perdure/ai`.

import { backOff } from '../http/stream.ts'
import { connectionTo } from './connection.ts'
import type { StreamReadOptions } from './read-stream.ts'

/** The fields of a run that are used here. A run token can read them. */
interface RunNow {
  status: string
  waitingFor?: { kind: string; stepName?: string }
  error?: { message: string }
}

const DEADLINE_MS = 10_000
const PAUSE_MS_MIN = 200
const PAUSE_MS_MAX = 5_000
/** Kinds of waits. Without the name of a step they are about a pass whose steps may be executed again. */
const OF_PASS: readonly string[] = ['retry', 'failure']

/**
 * Resolves when no message before `next` can be withdrawn any more, and none follows yet. A parked run has stored the steps of
 * its last pass. An error counts as "not yet": the reader of the stream reports a lasting one.
 */
export async function untilStored(options: StreamReadOptions & { next: number }): Promise<void> {
  const { stream, next, signal } = options
  for (let pauseMs = PAUSE_MS_MIN; ; pauseMs = Math.min(PAUSE_MS_MAX, pauseMs * 2)) {
    await backOff(pauseMs, signal)
    // Read the run first: a rollback from before the park is then in the stream.
    if (!isParked(await readJson<RunNow>(options, ''))) continue
    const path = `/streams/${encodeURIComponent(stream)}?offset=${String(next).padStart(16, '0')}`
    if ((await readJson<unknown[]>(options, path))?.length === 0) return
  }
}

/** Returns the message of the error that the run failed with; undefined if it cannot be read. */
export async function readRunError(options: StreamReadOptions): Promise<string | undefined> {
  return (await readJson<RunNow>(options, ''))?.error?.message
}

function isParked(run: RunNow | undefined): boolean {
  if (run?.waitingFor === undefined || (run.status !== 'waiting' && run.status !== 'paused')) return false
  const { kind, stepName } = run.waitingFor
  return stepName !== undefined || !OF_PASS.includes(kind)
}

/** Reads JSON below the path of the run; returns undefined if no engine answers with it. */
async function readJson<T>(options: StreamReadOptions, path: string): Promise<T | undefined> {
  const { engines, fetch, headers } = connectionTo(options)
  const { runId, signal } = options
  const deadline = AbortSignal.timeout(DEADLINE_MS)
  try {
    const response = await fetch(`${engines.url}/runs/${encodeURIComponent(runId)}${path}`, {
      headers,
      signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
    })
    return response.ok ? ((await response.json()) as T) : undefined
  } catch {
    return undefined
  }
}
