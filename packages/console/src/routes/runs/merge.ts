// Brings frames of the stream into the pages of the list. Pure: rows are replaced, never moved.

import type { Page } from '@perdure/client'
import type { InfiniteData } from '@tanstack/react-query'
import type { Item } from '../../data/queries.ts'
import type { LiveFrame } from '../../live/use-live.ts'

type Run = Item<'listRuns'>
type Pages = InfiniteData<Page<Run>>

const ENDED: readonly unknown[] = ['succeeded', 'failed', 'cancelled']

/** The pages with the newest status of each run, and how many frames were of runs that are not among them. */
export function merge(pages: Pages, frames: readonly LiveFrame[]): { pages: Pages; unknown: number } {
  const byRun = new Map(
    frames.filter(({ kind }) => kind === 'run_status').map(frame => [String(frame.runId), frame] as const),
  )
  let isChanged = false
  const next = pages.pages.map(page => ({
    ...page,
    items: page.items.map(run => {
      const frame = byRun.get(run.id)
      if (!frame) return run
      byRun.delete(run.id)
      isChanged = true
      return withFrame(run, frame)
    }),
  }))
  return { pages: isChanged ? { ...pages, pages: next } : pages, unknown: byRun.size }
}

function withFrame(run: Run, frame: LiveFrame): Run {
  const status = frame.status as Run['status']
  const { waitingFor, currentStepName, ...rest } = run
  const at = String(frame.ts)
  const startedAt = run.startedAt ?? (status === 'queued' ? undefined : at)
  const isEnd = ENDED.includes(status)
  return {
    ...rest,
    status,
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(typeof frame.attempt === 'number' ? { attempt: frame.attempt } : {}),
    // The frame does not say what the run waits for: that of the same status stays, another's goes.
    ...(status === run.status && waitingFor ? { waitingFor } : {}),
    ...(isEnd ? {} : { currentStepName: (frame.currentStepName as string | undefined) ?? currentStepName ?? '' }),
    ...(isEnd && startedAt !== undefined ? { finishedAt: at, durationMs: Date.parse(at) - Date.parse(startedAt) } : {}),
    ...(status === 'failed' && frame.error ? { error: frame.error as NonNullable<Run['error']> } : {}),
  }
}
