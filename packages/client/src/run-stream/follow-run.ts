// Follows the status and the progress of one run to its result, by its timeline (docs/concepts.md#timeline-and-streams). Used by
// the hooks for React.

import type { RunStatus } from '@perdure/protocol/portable'
import { PerdureError } from '../errors/call-errors.ts'
import { refusal, unreachable } from '../http/exchange.ts'
import { backOff, follow, isFinal } from '../http/stream.ts'
import { connectionTo, DEFAULT_READ, type ReadOptions, settingsOf } from './connection.ts'

/** The error of a run, with the fields that a run token can read. */
export interface FollowedRunError {
  message: string
  name?: string
  code?: string
  /** The step that failed. */
  stepName?: string
}

/** A frame of the timeline, with the fields that are read. */
type RunFrame = { kind: 'run_status'; status: RunStatus } | { kind: 'progress'; value: unknown } | { kind: 'other' }

/** The state of a run, as a reader sees it. */
export interface FollowedRun<Result = unknown> {
  /** Status of the run; of one that continues, the status of its newest run. */
  status: RunStatus
  /** The newest value of `ctx.progress`. */
  progress?: unknown
  /** Once the run has succeeded. */
  result?: Result
  /** Once the run has failed. */
  error?: FollowedRunError
}

const DEADLINE_MS = 30_000
const ENDED: readonly string[] = ['succeeded', 'failed', 'cancelled']

/**
 * Yields the run whenever it has changed, and returns after its end. A run that continues is followed to the last run of its chain. Throws as
 * `readRunStream` does.
 */
export async function* followRun<Result = unknown>(
  options: ReadOptions,
): AsyncGenerator<FollowedRun<Result>, void, undefined> {
  const connection = connectionTo(options)
  let { runId } = options
  let status: RunStatus = 'queued'
  let progress: { progress?: unknown } = {}
  for (;;) {
    for await (const frame of framesOf(connection, runId, options)) {
      if (frame.kind === 'progress') progress = { progress: frame.value }
      else if (frame.kind === 'run_status' && !ENDED.includes(frame.status)) status = frame.status
      else continue
      yield { status, ...progress }
    }
    const end = await endOf<Result>(connection, runId, options)
    if (ENDED.includes(end.status)) {
      const { status, result, error } = end
      yield { status, ...progress, ...(result === undefined ? {} : { result }), ...(error && { error }) }
      return
    }
    runId = end.runId
  }
}

/** Returns the result of the run, or of the newest run of its chain. Tries again with growing pauses while no engine answers. */
async function endOf<Result>(
  connection: ReturnType<typeof connectionTo>,
  runId: string,
  { signal, settings }: ReadOptions,
): Promise<FollowedRun<Result> & { runId: string }> {
  const { retryMs, retryMsMax, attemptsMax } = { ...DEFAULT_READ, ...settings }
  const url = `${connection.engines.url}/runs/${encodeURIComponent(runId)}/result`
  for (let failures = 0; ; failures++) {
    try {
      const deadline = AbortSignal.timeout(DEADLINE_MS)
      const { headers } = connection
      const response = await connection.fetch(url, {
        headers,
        signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
      })
      const answer = { url, status: response.status, body: await response.text() }
      if (!response.ok) throw refusal({ ...answer, headers: response.headers }, connection.apiKey !== undefined)
      return JSON.parse(answer.body)
    } catch (error) {
      signal?.throwIfAborted()
      if (isFinal(error)) throw error
      if (failures >= attemptsMax) throw error instanceof PerdureError ? error : unreachable(url, error)
      await backOff(Math.min(retryMsMax, retryMs * 2 ** failures), signal)
    }
  }
}

/** The frames of the timeline until the run has ended. */
function framesOf(
  connection: ReturnType<typeof connectionTo>,
  runId: string,
  options: ReadOptions,
): AsyncGenerator<RunFrame, void, undefined> {
  const path = `/runs/${encodeURIComponent(runId)}/stream`
  const { headers } = connection
  const source = {
    request: (seen: number | undefined) => ({
      method: 'GET',
      path: seen === undefined ? path : `${path}?from=${seen}`,
      headers,
    }),
    isOver: async (last: object | undefined) => {
      const frame = last as RunFrame | undefined
      return frame?.kind === 'run_status' && ENDED.includes(frame.status)
    },
  }
  const all = follow(connection, source, settingsOf(options))
  return all as AsyncGenerator<RunFrame, void, undefined>
}
