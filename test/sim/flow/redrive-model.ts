// A reference model of redrive, written from docs/events.md#redrive alone: how many runs of a workflow each event may have
// started. Used by redrive.test.ts.

import { ensure } from '../core/violation.ts'

/** Runs that each event of the log has started, by the event's number. */
export type Starts = ReadonlyMap<number, number>

/** Bulk calls that were under way together, with their answers; undefined for one whose engine died. */
export interface BulkCalls {
  replies: readonly (Counts | undefined)[]
  /** Single redrives that were under way at the same time. */
  singles: readonly Single[]
  /** Numbers of the events that were in the log before, or within the calls' time span. */
  events: readonly number[]
}

export interface Single {
  n: number
  /** The run's id; undefined if the engine died. */
  runId: string | undefined
}

export interface Counts {
  matched: number
  started: number
  skipped: number
  failed: number
  capped: boolean
}

/** Checks which runs the calls have started, from the runs before and after them. */
export function checkCalls(before: Starts, after: Starts, { replies, singles, events }: BulkCalls): void {
  const isAnswered = replies.some(reply => reply !== undefined)
  let started = 0
  for (const n of new Set([...before.keys(), ...after.keys(), ...events])) {
    const [had, has] = [before.get(n) ?? 0, after.get(n) ?? 0]
    const own = singles.filter(single => single.n === n)
    const certain = own.filter(({ runId }) => runId !== undefined).length
    const isMatched = events.includes(n) && replies.length > 0
    const mayStart = isMatched && had === 0 ? 1 : 0
    const detail = () => `event ${n}: ${had} runs before, ${has} after, ${own.length} single calls, ${certain} answered`
    ensure(has >= had + certain, 'a single call always starts a run', detail)
    ensure(has <= had + own.length + mayStart, 'a bulk call starts a workflow at most once with an event', detail)
    ensure(!isMatched || !isAnswered || has > 0, 'a bulk call that was answered leaves no event out', detail)
    started += has - had
  }
  let counted = 0
  for (const reply of replies) {
    if (!reply) continue
    const { matched, skipped, failed } = reply
    const detail = () => `${events.length} events: ${JSON.stringify(reply)}`
    ensure(matched === events.length, 'a bulk call matches every event', detail)
    ensure(matched === reply.started + skipped + failed && failed === 0, 'the counts of a bulk call add up', detail)
    counted += reply.started
  }
  const detail = () => `${started} runs, ${counted} counted, ${singles.length} single calls`
  const all = singles.filter(({ runId }) => runId !== undefined).length + counted
  ensure(started >= all, 'no bulk call counts a run that was not started', detail)
  const unanswered = [...replies, ...singles.map(({ runId }) => runId)].includes(undefined)
  ensure(unanswered || started === all, 'the calls count every run that they start', detail)
}
