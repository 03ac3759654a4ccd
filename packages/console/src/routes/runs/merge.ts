// Merges frames of the stream into the pages of the list. Pure: rows are replaced, never moved.

import type { RunFilterName } from '@perdure/protocol'
import type { Item } from '../../data/queries.ts'
import type { Batch, LiveFrame } from '../../live/use-live.ts'
import { type Pages as PagesOf, replaceRows } from '../../ui/live-list/pages.ts'
import { ENDED } from '../../ui/status.tsx'
import type { NotOfPage } from './query.ts'

/** Whether the filter is the name, or a prefix of it with a star. */
const isOfWorkflow = (name: string, filter: string) =>
  /.\*$/su.test(filter) ? name.startsWith(filter.slice(0, -1)) : name === filter

type Run = Item<'listRuns'>
export type Pages = PagesOf<Run>

export interface MergeOptions {
  /** Rows only get the status of their frame. */
  isSampled: boolean
}

/** Returns the pages with the newest frame of each run, and the frames of runs that are not in them. */
export function merge(
  pages: Pages,
  frames: readonly LiveFrame[],
  options: MergeOptions,
): { pages: Pages; unknown: LiveFrame[] } {
  const byRun = new Map(
    frames.filter(({ kind }) => kind === 'run_status').map(frame => [String(frame.runId), frame] as const),
  )
  const merged = replaceRows(pages, run => {
    const frame = byRun.get(run.id)
    byRun.delete(run.id)
    return frame ? withFrame(run, frame, options) : run
  })
  return { pages: merged, unknown: [...byRun.values()] }
}

function withFrame(run: Run, frame: LiveFrame, { isSampled }: MergeOptions): Run {
  const status = frame.status as Run['status']
  const isEnd = ENDED.includes(status)
  // A run that has ended stays ended: the frame is older than the row.
  if (ENDED.includes(run.status) && !isEnd) return run
  if (isSampled) return run.status === status ? run : { ...run, status }
  const { waitingFor, currentStepName, position: _position, ...rest } = run
  const at = String(frame.ts)
  const startedAt = (frame.startedAt as string | undefined) ?? run.startedAt ?? (status === 'queued' ? undefined : at)
  return {
    ...rest,
    status,
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(typeof frame.attempt === 'number' ? { attempt: frame.attempt } : {}),
    // The frame does not say what the run waits for: keep it for the same status, drop it for another.
    ...(status === run.status && waitingFor ? { waitingFor } : {}),
    ...(isEnd ? {} : { currentStepName: (frame.currentStepName as string | undefined) ?? currentStepName ?? '' }),
    ...(isEnd && startedAt !== undefined ? { finishedAt: at, durationMs: durationOf(frame, startedAt) } : {}),
    ...(status === 'failed' && frame.error ? { error: frame.error as NonNullable<Run['error']> } : {}),
  }
}

/** Returns the row without its place in a queue, which other runs change. */
export function withoutPosition(run: Run): Run {
  if (run.position === undefined) return run
  const { position: _position, ...rest } = run
  return rest
}

/** Whether frames change places in queues that rows show: a run that starts or ends is no longer ahead of others. */
export function movesQueues(pages: Pages, frames: readonly LiveFrame[]): boolean {
  return (
    frames.some(({ kind }) => kind === 'run_status') &&
    pages.pages.some(({ items }) => items.some(({ position }) => position !== undefined))
  )
}

function durationOf({ durationMs, ts }: LiveFrame, startedAt: string): number {
  return typeof durationMs === 'number' ? durationMs : Date.parse(String(ts)) - Date.parse(startedAt)
}

/** The filters of a list that a frame can be compared with. */
export interface FrameFilters {
  status?: string | readonly string[] | undefined
  app?: string | undefined
  workflow?: string | undefined
  until?: string | Date | undefined
}

/** The filters of the page for which a frame does not show whether its run matches. `deep` belongs to `q`. */
type NotInFrames = Exclude<RunFilterName, NotOfPage | keyof FrameFilters | 'since' | 'deep'>
const NOT_IN_FRAMES: { readonly [Name in NotInFrames]: true } = {
  q: true,
  runType: true,
  waitingFor: true,
  error: true,
  parentRunId: true,
  root: true,
  bulkId: true,
  key: true,
  attribute: true,
  endedSince: true,
  endedUntil: true,
}

/** Whether a frame cannot show that its run belongs to the list: only a read can. */
export function needsRead(filters: FrameFilters & { [Name in NotInFrames]?: unknown }): boolean {
  // A run that was created in time may reach the status later.
  const mayComeLate = filters.until !== undefined && filters.status !== undefined
  return mayComeLate || Object.keys(NOT_IN_FRAMES).some(name => filters[name as NotInFrames] !== undefined)
}

/** The newest row: the engine's ids rise with time, callers' ids do not. */
export interface Newest {
  id: string
  createdAt: string
}

const OWN_ID = 'run_'

export function newestOf({ pages }: Pages): Newest {
  const newest = { id: '', createdAt: '' }
  for (const { id, createdAt } of pages.flatMap(({ items }) => items)) {
    if (id.startsWith(OWN_ID) && id > newest.id) newest.id = id
    if (createdAt > newest.createdAt) newest.createdAt = createdAt
  }
  return newest
}

/**
 * Whether the run of a frame is new to the list: it is newer than every row, or it has reached a status that the list is filtered
 * by. Frames of older runs belong to rows further down.
 */
export function isNew({ runId, ...frame }: LiveFrame, newest: Newest, filters: FrameFilters): boolean {
  const { status, app, workflow, until } = filters
  if (app !== undefined && frame.app !== app) return false
  if (workflow !== undefined && !isOfWorkflow(String(frame.workflow), workflow)) return false
  if (status !== undefined) return String(status).split(',').includes(String(frame.status))
  if (until !== undefined && String(frame.ts) >= String(until)) return false
  const id = String(runId)
  if (id.startsWith(OWN_ID) && newest.id !== '') return id > newest.id
  return frame.startedAt === undefined || String(frame.startedAt) > newest.createdAt
}

/**
 * Merges a batch into the list of the input. Returns its rows, the new runs that belong to it, and whether it must be read again.
 */
export function mergeBatch(
  pages: Pages,
  { frames, isSampled }: Batch,
  input: FrameFilters & Parameters<typeof needsRead>[0],
): { pages: Pages; added: readonly string[]; isOld: boolean } {
  const merged = merge(pages, frames, { isSampled })
  const newest = newestOf(pages)
  const added = merged.unknown.filter(frame => isNew(frame, newest, input)).map(({ runId }) => String(runId))
  const isOld = movesQueues(pages, frames)
  return needsRead(input)
    ? { pages: merged.pages, added: [], isOld: isOld || added.length > 0 }
    : { pages: merged.pages, added, isOld }
}
