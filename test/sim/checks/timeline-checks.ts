// Checks a run's timeline: seqs rise, pages have no gaps, statuses change only as documented, and the last frame has
// the final status.

import type { StoredFrame } from '../../../packages/engine/src/domain/view/timeline-frames.ts'
import type { Reads } from '../../../packages/engine/src/ports/store-reads.ts'
import type { Rng } from '../core/random.ts'
import { ensure, same } from '../core/violation.ts'
import { isEnded, type RunRecord, SETTLED_OUTSIDE } from './record.ts'

/** The documented status changes (docs/state-machine.md#status-changes). '' is the status before the first frame. */
const MOVES: Readonly<Record<string, readonly string[]>> = {
  '': ['queued'],
  queued: ['running', 'paused', 'failed', 'cancelled'],
  running: ['queued', 'waiting', 'paused', 'succeeded', 'failed', 'cancelled'],
  waiting: ['queued', 'paused', 'failed', 'cancelled'],
  // The pass in flight at the pause may still make the run fail or succeed.
  paused: ['queued', 'succeeded', 'failed', 'cancelled'],
}
/** After a resume the pass that was in flight at the pause may still run, and its end finds the run queued. */
const MOVES_RESUMED = ['waiting', 'succeeded']

/** Follows the timeline like a stream: from the last seq, in pages of random size. */
export async function followTimeline(record: RunRecord, reads: Reads, rng: Rng): Promise<void> {
  for (;;) {
    const limit = rng.pick([1, 3, 10, 100, 100, 100])
    const after = record.frames.at(-1)?.seq ?? 0
    const page = await reads.timeline(record.id, { after, limit, openFrom: record.openFrom })
    ensure(page.frames.length <= limit, 'a page keeps its limit', () => `${page.frames.length} of ${limit}`, [
      record.id,
    ])
    for (const frame of page.frames) appendFrame(record, frame)
    record.openFrom = page.openFrom
    if (!page.more) return
    ensure(page.frames.length > 0, 'a page that has more is not empty', () => record.id, [record.id])
  }
}

function appendFrame(record: RunRecord, frame: StoredFrame): void {
  const last = record.frames.at(-1)
  const subjects = [record.id]
  const detail = () => `${record.id}: ${JSON.stringify(frame)} after ${JSON.stringify(last)}`
  ensure(frame.seq > (last?.seq ?? 0), 'seqs strictly rise', detail, subjects)
  if (isTimely(record, frame)) {
    ensure(
      record.wall.wasSet || frame.ts >= record.lastTs,
      'time in the timeline does not run backwards',
      detail,
      subjects,
    )
    record.lastTs = frame.ts
  }
  if (frame.kind === 'run_status') {
    const [status = '', before] = statuses(record.frames).slice(-2).reverse()
    const resumed = status === 'queued' && before === 'paused'
    ensure(
      MOVES[status]?.includes(frame.status) || (resumed && MOVES_RESUMED.includes(frame.status)),
      'statuses move only as documented',
      () => `${record.id}: ${status} -> ${frame.status}`,
      subjects,
    )
  }
  record.frames.push(frame)
}

/** Frames that were sent to a stream without a read of the store must equal the stored frames. */
export function checkTold(record: RunRecord): void {
  const stored = new Map(record.frames.map(frame => [frame.seq, frame]))
  for (const sent of record.sentFrames) {
    const frame = stored.get(sent.seq)
    ensure(
      frame !== undefined && same(sent, frame),
      'frames sent to streams equal the stored ones',
      () => `${record.id}: sent ${JSON.stringify(sent)}, stored ${JSON.stringify(frame)}`,
      [record.id],
    )
  }
  record.sentFrames = []
}

/** Compares the frames read so far with the current run and its steps. */
export function checkTimelineWhole({ id, run, steps, frames }: RunRecord): void {
  if (run === undefined) return
  const last = frames.at(-1)
  const status = statuses(frames).at(-1)
  ensure(status === run.status, 'the last status frame has the status', () => `${id}: ${run.status}, frame ${status}`, [
    id,
  ])
  if (isEnded(run)) {
    ensure(
      last?.kind === 'run_status',
      'the timeline ends with the terminal frame',
      () => `${id}: ${JSON.stringify(last)}`,
      [id],
    )
  }
  for (const step of steps) {
    const last = frames.findLast(frame => frame.kind === 'step_status' && frame.index === step.index)
    ensure(
      last?.kind === 'step_status' &&
        last.seq === step.seq &&
        last.status === step.status &&
        last.attempt === step.attempt,
      'every step status has its frame',
      () => `${id}#${step.index}: ${JSON.stringify(step)}; frame ${JSON.stringify(last)}`,
      [id],
    )
  }
}

/** Reading in pages and reading all at once give the same frames. */
export async function checkNoHoles(record: RunRecord, reads: Reads): Promise<void> {
  const full = await reads.timeline(record.id, { after: 0, limit: 100_000, openFrom: 0 })
  const missed = full.frames.filter(frame => !record.frames.some(({ seq }) => seq === frame.seq))
  ensure(
    same(full.frames, record.frames),
    'the timeline has no holes',
    () =>
      missed.length > 0
        ? `${record.id}: a follower missed ${JSON.stringify(missed)}`
        : `${record.id}: a follower saw other frames than are stored now`,
    [record.id],
  )
}

function statuses(frames: readonly StoredFrame[]): string[] {
  return frames.flatMap(frame => (frame.kind === 'run_status' ? [frame.status] : []))
}

/**
 * Whether the frame was decided with knowledge of all earlier frames. Wakes from outside are decided a moment before their
 * commit, and steps that a fork carries keep the time of their end.
 */
function isTimely({ steps }: RunRecord, frame: StoredFrame): boolean {
  if (frame.kind === 'run_status') return frame.status !== 'queued'
  const step = frame.kind === 'step_status' ? steps[frame.index ?? -1] : undefined
  return !step?.carried && !step?.settledBy && !(step && SETTLED_OUTSIDE.has(step.op))
}
