// The columns of the runs list.

import { lazy, Suspense } from 'react'
import type { Item } from '../../data/queries.ts'
import { useClock } from '../../data/time/clock.ts'
import { Link } from '../../router/router.tsx'
import { coarse, durationText, inWords } from '../../ui/duration.ts'
import { Status } from '../../ui/status.tsx'
import type { Column } from '../../ui/table/data-table.tsx'
import { exactTime } from '../../ui/time.ts'
import { useVeil } from '../../ui/veil.ts'
import { kindWords, shortId } from '../../ui/visible-text.ts'
import { attributeKeys } from './attribute-keys.ts'
import { progressOf } from './live-progress.ts'
import styles from './runs.module.css'

// Loaded separately, to keep the first page small: few lists have runs that report progress.
const Progress = lazy(() => import('../../ui/progress/progress.tsx'))

export type Run = Item<'listRuns'>
export type SortKey = 'started' | 'workflow' | 'status' | 'app' | 'duration'
/** The order of the list, and a function that changes it. */
export interface Sorting {
  key: SortKey
  dir: 'asc' | 'desc'
  onSort(key: SortKey): void
}

/** Columns that can be hidden, by name. */
export const OPTIONAL_COLUMNS = ['trigger', 'why', 'started', 'duration', 'attempt', 'app', 'pin'] as const
/** Shown unless the URL names others. */
export const DEFAULT_COLUMNS: readonly string[] = ['trigger', 'why', 'started', 'duration', 'app']

/** The columns to show. The bars of durations are relative to `longMs`. */
export function runColumns(shown: readonly string[], sorting: Sorting, longMs: number): Column<Run>[] {
  const by = (key: SortKey) => ({
    dir: sorting.key === key ? sorting.dir : undefined,
    onSort: () => sorting.onSort(key),
  })
  const all: Column<Run>[] = [
    {
      id: 'status',
      header: 'Status',
      width: '116px',
      sort: by('status'),
      render: ({ status }) => <Status status={status} />,
    },
    {
      id: 'workflow',
      header: 'Workflow',
      sort: by('workflow'),
      render: ({ workflow, kind }) => (
        <span title={workflow}>
          {workflow}
          {kind && <span className="mute"> {kindWords(kind)}</span>}
        </span>
      ),
    },
    {
      id: 'id',
      header: 'Run',
      width: '116px',
      render: ({ id }) => (
        <Link target={{ to: 'run', params: { id } }} className={styles.id} title={id}>
          {shortId(id)}
        </Link>
      ),
    },
    { id: 'trigger', header: 'Trigger', width: '14.6%', isSecondary: true, render: run => <Trigger run={run} /> },
    { id: 'why', header: 'Current step', render: run => <At run={run} /> },
    {
      id: 'started',
      header: 'Created',
      width: '92px',
      align: 'end',
      sort: by('started'),
      render: run => <Ago at={run.createdAt} />,
    },
    {
      id: 'duration',
      header: 'Duration',
      width: '112px',
      align: 'end',
      isSecondary: true,
      sort: by('duration'),
      render: run => <Duration run={run} longMs={longMs} />,
    },
    { id: 'attempt', header: 'Attempt', width: '72px', align: 'end', isSecondary: true, render: run => run.attempt },
    {
      id: 'app',
      header: 'App',
      width: '72px',
      sort: by('app'),
      render: run => <span title={run.app}>{run.app}</span>,
    },
    { id: 'pin', header: 'Pinned to', width: '120px', isSecondary: true, render: run => run.runner ?? '' },
  ]
  return [
    ...all.filter(({ id }) => !(OPTIONAL_COLUMNS as readonly string[]).includes(id) || shown.includes(id)),
    // In cards the head of a column comes before cells that are aligned to the end.
    ...attributeKeys(shown).map(
      (key): Column<Run> => ({
        id: `@${key}`,
        header: key,
        width: '112px',
        align: 'end',
        render: run => <Attribute value={run.attributes?.[key]} />,
      }),
    ),
  ]
}

/** An attribute. Attributes may be parts of the input, and are hidden with it. */
function Attribute({ value }: { value: unknown }) {
  const { isHidden } = useVeil()
  if (value === undefined) return null
  const text = isHidden ? '•••' : String(value)
  return <span title={text}>{text}</span>
}

function Trigger({ run: { eventName, cron, replayOf, parentRunId, startedBy, kind } }: { run: Run }) {
  const [what, detail, shown = detail] =
    replayOf !== undefined
      ? ['replay of', replayOf, replayOf.slice(-8)]
      : parentRunId !== undefined
        ? [kind === undefined ? 'child of' : 'failure of', parentRunId, parentRunId.slice(-8)]
        : cron !== undefined
          ? ['cron', cron, cron.replace(/^TZ=\S+\s+/, '')]
          : eventName === undefined
            ? startedBy === undefined
              ? ['direct start', '']
              : ['started by', startedBy.runId, startedBy.runId.slice(-8)]
            : ['', eventName]
  return (
    <span title={`${what} ${detail}`.trim()}>
      {what !== '' && <span className="mute">{what} </span>}
      {shown}
    </span>
  )
}

/** Returns the current step of a run, or what it waits for. */
function atText({ waitingFor, currentStepName, error, status, position, finishedAt }: Run, nowMs: number): string {
  if (status === 'failed') return error?.message ?? ''
  if (!waitingFor) return (finishedAt === undefined && currentStepName) || ''
  const { kind, until, eventName, childRunId, runId, key, name } = waitingFor
  const left = until && durationText(Math.max(0, Date.parse(until) - nowMs))
  const ahead =
    position === undefined || status !== 'queued' ? '' : position ? `, ${position} ahead` : ', next in queue'
  // A limit without a key has the empty key.
  const place = (key ? ` ${key}` : '') + ahead
  const texts: Record<string, string> = {
    sleep: left ? `sleeps, ${left} left` : 'sleeps',
    event: `event ${eventName ?? ''}`,
    child: `child ${childRunId ?? ''}`,
    run: `run ${runId ?? ''}`,
    retry: left ? `retries in ${left}` : 'retries',
    runner: 'no runner available',
    concurrency: `slot${place}`,
    throttle: kind + place,
    limit: `limit ${name}${place}`,
    failure: waitingFor.error ?? 'paused after a failure',
    budget: `over the budget of ${waitingFor.runId?.slice(-8)}: ${waitingFor.spent} of ${waitingFor.limit} ${name}`,
  }
  return texts[kind] ?? kind.replace('-', ' ')
}

function At({ run }: { run: Run }) {
  const text = useClock(nowMs => atText(run, nowMs))
  const progress = progressOf(run)
  if (progress !== undefined)
    return (
      <span className={styles.why}>
        <Suspense>
          <Progress source={progress} />
        </Suspense>
        <span className="mute">{text}</span>
      </span>
    )
  return (
    <span className="mute" title={text}>
      {text}
    </span>
  )
}

function Ago({ at }: { at: string }) {
  const atMs = Date.parse(at)
  const text = useClock(nowMs => {
    const ms = Math.max(0, nowMs - atMs)
    return ms < 1000 ? 'now' : `${durationText(coarse(ms))} ago`
  })
  return (
    <time dateTime={at} title={exactTime(atMs)}>
      <span aria-hidden="true">{text}</span>
      <span className="visually-hidden">{inWords(text)}</span>
    </time>
  )
}

function Duration({ run, longMs }: { run: Run; longMs: number }) {
  const { durationMs, startedAt, finishedAt, status } = run
  const isOpen = finishedAt === undefined && startedAt !== undefined
  const text = useClock(nowMs => {
    const ms = durationMs ?? (isOpen ? Math.max(0, nowMs - Date.parse(startedAt)) : undefined)
    return ms === undefined ? undefined : durationText(isOpen ? coarse(ms) : ms)
  })
  if (text === undefined) return null
  return (
    <span className={styles.duration}>
      {!isOpen && durationMs !== undefined && longMs > 0 && (
        <span
          aria-hidden="true"
          className={styles.bar}
          data-status={status}
          style={{ width: `${Math.max(2, Math.min(40, (40 * durationMs) / longMs))}px` }}
        />
      )}
      {text}
    </span>
  )
}
