// The sentences about what needs a look, each with a link.

import type { Calls } from '@perdure/client'
import type { ReactNode } from 'react'
import type { Item } from '../../data/queries.ts'
import { Link } from '../../router/router.tsx'
import type { Query } from '../../router/routes.ts'
import { durationText } from '../../ui/duration.ts'
import { Moment } from '../../ui/moment.tsx'
import { Status } from '../../ui/status.tsx'
import { shortName } from '../../ui/visible-text.ts'
import { LAG_MS_MAX, LANES, type Lane } from '../engine/engine-words.ts'
import type { Limit } from '../limits/limit.ts'
import { disagreements } from '../runners/disagreements.ts'
import css from './overview.module.css'

/** Sentences of one kind. */
const LOOKS_MAX = 3
const LATE_MS = 60_000

/** The window as the URL has it, and the time of its beginning. */
export interface LookWindow {
  window: Pick<Query<'overview'>, 'since' | 'until'>
  from: string | undefined
}

export interface Look {
  key: string
  sentence: ReactNode
}

export function errorLooks(
  groups: readonly Calls['listErrors']['reply'][number][],
  { window: query, from }: LookWindow,
): Look[] {
  if (groups.length === 0) return []
  const fresh = from === undefined ? [] : groups.filter(({ firstSeenAt }) => firstSeenAt >= from)
  const runs = groups.reduce((sum, { count }) => sum + count, 0)
  return [
    {
      key: 'errors',
      sentence: (
        <>
          <Link target={{ to: 'errors', query }}>
            {runs} {runs === 1 ? 'run' : 'runs'} failed in {groups.length} {groups.length === 1 ? 'group' : 'groups'}
          </Link>
          {fresh.length > 0 && `, ${fresh.length} of them new`}
        </>
      ),
    },
    ...groups.slice(0, 3).map(({ fingerprint, count, workflow, message }) => ({
      key: fingerprint,
      sentence: (
        <>
          <Status status="failed" word={String(count)} />{' '}
          <Link target={{ to: 'errorGroup', params: { fingerprint }, query }} title={message}>
            {message.slice(0, 100)}
          </Link>{' '}
          <span className={css.mute}>{workflow}</span>
        </>
      ),
    })),
  ]
}

/** Workflows whose runs are held back otherwise than by a limit that has a sentence of its own. */
export function heldLooks(
  stats: readonly Calls['getWorkflowStats']['reply'][number][],
  limits: readonly Limit[],
): Look[] {
  const named = new Set(limits.filter(limit => waitingOf(limit) !== 0).map(({ app, workflow }) => `${app}/${workflow}`))
  return stats
    .filter(({ app, workflow, held }) => held > 0 && !named.has(`${app}/${workflow}`))
    .sort((a, b) => b.held - a.held)
    .slice(0, 3)
    .map(({ app, workflow, held }) => ({
      key: `held ${app}/${workflow}`,
      sentence: (
        <>
          <Link target={{ to: 'runs', query: { app, workflow, status: 'queued' } }}>
            {held} {held === 1 ? 'run' : 'runs'} of {workflow}
          </Link>{' '}
          {held === 1 ? 'is' : 'are'} held back by a limit or for want of a runner
        </>
      ),
    }))
}

export function runnerLooks(runners: readonly Calls['listRunners']['reply'][number][]): Look[] {
  return runners
    .filter(({ live }) => !live)
    .slice(0, 3)
    .map(({ app, runnerId, lastSeenAt }) => ({
      key: `runner ${app}/${runnerId}`,
      sentence: (
        <>
          Runner <Link target={{ to: 'runners', query: { app } }}>{runnerId}</Link> is silent, last seen{' '}
          <Moment at={lastSeenAt} />
        </>
      ),
    }))
}

/** Workflows of which live runners have different definitions. */
export function disagreementLooks(runners: readonly Calls['listRunners']['reply'][number][]): Look[] {
  return disagreements(runners)
    .slice(0, LOOKS_MAX)
    .map(({ app, workflow, runnerIds }) => ({
      key: `definition ${app}/${workflow}`,
      sentence: (
        <>
          <Link target={{ to: 'runners', query: { app, workflow } }}>{runnerIds.length} runners</Link> of {app} disagree
          on the definition of {shortName(workflow)}
        </>
      ),
    }))
}

/** By host, the one with most deliveries first. */
export function deliveryLooks(
  exhausted: readonly Item<'listWebhookDeliveries'>[],
  { window, isMore }: Pick<LookWindow, 'window'> & { isMore: boolean },
): Look[] {
  const counts = new Map<string, number>()
  for (const { url } of exhausted) counts.set(hostOf(url), (counts.get(hostOf(url)) ?? 0) + 1)
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, LOOKS_MAX)
    .map(([host, count]) => ({
      key: `deliveries ${host}`,
      sentence: (
        <>
          <Link target={{ to: 'deliveries', query: { status: 'exhausted', ...window } }}>
            {count}
            {isMore ? ' or more' : ''} {count === 1 ? 'delivery' : 'deliveries'}
          </Link>{' '}
          to {shortName(host)} spent all attempts
        </>
      ),
    }))
}

const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : url)

const waitingOf = (limit: Limit) => (limit.kind === 'throttle' ? limit.inLine : limit.waiting)

/** The limits for which runs wait, the longest wait first. */
export function limitLooks(limits: readonly Limit[]): Look[] {
  return limits
    .filter(limit => waitingOf(limit) !== 0)
    .sort((a, b) => ((a.oldestAt ?? '~') < (b.oldestAt ?? '~') ? -1 : 1))
    .slice(0, LOOKS_MAX)
    .map(limit => {
      const { app, workflow, key, kind, scope, oldestAt } = limit
      const count = waitingOf(limit)
      return {
        key: `limit ${[kind, scope, app, workflow, key].join(' ')}`,
        sentence: (
          <>
            <Link target={{ to: 'limits', query: { app, workflow, key } }}>
              {count} {count === 1 ? 'run' : 'runs'} of {shortName(workflow ?? app ?? 'the namespace')}
            </Link>{' '}
            {count === 1 ? 'waits' : 'wait'} for {kind === 'throttle' ? 'the throttle' : 'a slot'}
            {key !== undefined && ` of key ${shortName(key)}`}
            {oldestAt !== undefined && (
              <>
                , the oldest was created <Moment at={oldestAt} />
              </>
            )}
          </>
        ),
      }
    })
}

/** Lanes in which due work waits too long. */
export function laneLooks(engines: readonly Calls['listEngines']['reply'][number][]): Look[] {
  // The lag is that of the store, the same for all engines.
  const lanes = engines.flatMap(engine => engine.lanes)
  return (Object.keys(LANES) as Lane['lane'][]).flatMap(lane => {
    const lagMs = Math.max(0, ...lanes.flatMap(each => (each.lane === lane ? (each.lagMs ?? []) : [])))
    if (lagMs <= LAG_MS_MAX) return []
    const sentence = (
      <>
        <Link target={{ to: 'engine' }}>The lane of {LANES[lane]}</Link> lags {durationText(lagMs)}
      </>
    )
    return [{ key: `lane ${lane}`, sentence }]
  })
}

/** Schedules with instants in the window that did not fire. */
export function missedLooks(
  schedules: readonly Item<'listSchedules'>[],
  { window: { until = '~' }, from }: LookWindow,
): Look[] {
  return schedules
    .flatMap(({ id, workflow, missed }) =>
      missed && missed.until >= (from ?? '') && missed.until < until
        ? [
            {
              key: `missed ${id}`,
              sentence: (
                <>
                  Schedule <Link target={{ to: 'schedules' }}>{workflow ?? id}</Link> missed its instant{' '}
                  <Moment at={missed.until} />
                </>
              ),
            },
          ]
        : [],
    )
    .slice(0, LOOKS_MAX)
}

/** Late schedules, which come first: some by name, the others counted. */
export function scheduleLooks(soonest: readonly Item<'listSchedules'>[], isMore: boolean): Look[] {
  const late = soonest.filter(({ lateMs = 0 }) => lateMs >= LATE_MS)
  const others = late.length - LOOKS_MAX
  const isEnd = !isMore || late.length < soonest.length
  const looks = late.slice(0, LOOKS_MAX).map(({ id, workflow, lateMs = 0 }) => ({
    key: `schedule ${id}`,
    sentence: (
      <>
        Schedule <Link target={{ to: 'schedules' }}>{workflow ?? id}</Link> is {durationText(lateMs)} late
      </>
    ),
  }))
  if (others <= 0) return looks
  const sentence = (
    <Link target={{ to: 'schedules', query: { state: 'late' } }}>
      {others}
      {isEnd ? '' : ' or more'} other {others === 1 ? 'schedule is' : 'schedules are'} late
    </Link>
  )
  return [...looks, { key: 'schedules', sentence }]
}
