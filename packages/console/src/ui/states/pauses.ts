// The pause of a run or a workflow: its actor and its time, from the audit log.

import { type Item, itemsOf, usePages } from '../../data/queries.ts'

/** The actor is unknown if the engine is open. */
export interface Pause {
  at: string
  actor: string | undefined
}

type Entry = Item<'listControlActions'>

/** Number of entries of a run that are read, the newest. */
const ENTRIES = 20
/** The engine writes a pause and its entry together, but reads its clock twice. */
const APART_MS_MAX = 2000

const pauseOf = (entry: Entry | undefined): Pause | undefined => entry && { at: entry.createdAt, actor: entry.actor }

/** Returns the last pause of a paused run. Undefined if a bulk job may have paused it later: its entry does not name the runs. */
export function usePauseOfRun(runId: string, isPaused: boolean): Pause | undefined {
  const options = { keep: false, staleMs: 0 }
  const entries = usePages('listControlActions', { runId, limit: ENTRIES }, { ...options, enabled: isPaused })
  // The newest entry comes first.
  const last = itemsOf(entries).find(({ action }) => action === 'pause' || action === 'resume')
  const pause = last?.action === 'pause' ? last : undefined
  const bulks = usePages(
    'listControlActions',
    { action: 'bulk.pause', since: pause?.createdAt, limit: 1 },
    { ...options, enabled: isPaused && pause !== undefined },
  )
  if (!isPaused || bulks.data === undefined || itemsOf(bulks).length > 0) return undefined
  return pauseOf(pause)
}

/** Returns the pause of a workflow that has been paused since then. */
export function usePauseOfWorkflow(app: string, workflow: string, pausedAt: string | undefined): Pause | undefined {
  const atMs = Date.parse(pausedAt ?? '')
  const near = (ms: number) => (pausedAt === undefined ? undefined : new Date(atMs + ms).toISOString())
  const entries = usePages(
    'listControlActions',
    { action: 'workflow.pause', since: near(-APART_MS_MAX), until: near(APART_MS_MAX), limit: ENTRIES },
    { keep: false, enabled: pausedAt !== undefined },
  )
  const own = itemsOf(entries).filter(({ detail }) => isAbout(detail, { app, workflow }))
  const apart = ({ createdAt }: Entry) => Math.abs(Date.parse(createdAt) - atMs)
  return pausedAt === undefined ? undefined : pauseOf(own.sort((a, b) => apart(a) - apart(b))[0])
}

function isAbout(detail: unknown, { app, workflow }: { app: string; workflow: string }): boolean {
  const named = detail as Readonly<Record<string, unknown>> | null | undefined
  return named?.app === app && named.workflow === workflow
}

/** Returns " by ada", or nothing. */
export const byText = (pause: Pause | undefined): string => (pause?.actor === undefined ? '' : ` by ${pause.actor}`)
