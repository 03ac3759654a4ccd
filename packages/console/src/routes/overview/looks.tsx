// The sentences about what needs attention, each with a link.

import type { Calls } from '@perdure/client'
import { cutText } from '@perdure/protocol/portable'
import type { ReactNode } from 'react'
import type { Item } from '../../data/queries.ts'
import { Link } from '../../router/router.tsx'
import type { Query } from '../../router/routes.ts'
import { durationText } from '../../ui/duration.ts'
import { Moment } from '../../ui/moment.tsx'
import { Status } from '../../ui/status.tsx'
import { kindWords, shortName } from '../../ui/visible-text.ts'
import { LAG_MS_MAX, LANES, type Lane } from '../engine/engine-words.ts'
import { type Limit, waitingOf } from '../limits/limit.ts'
import { disagreements } from '../runners/disagreements.ts'

/** Maximum number of sentences of one kind. */
const LOOKS_MAX = 3

/** The window in the form of the URL, and the time at which it begins. */
export interface LookWindow {
  window: Pick<Query<'overview'>, 'since' | 'until'>
  from: string | undefined
}

export interface Look {
  key: string
  sentence: ReactNode
}

/** Returns the first sentences of one kind, and one that counts the others. */
export function shortened(looks: readonly Look[], others: (count: number) => ReactNode): Look[] {
  const count = looks.length - LOOKS_MAX
  if (count <= 0) return [...looks]
  return [...looks.slice(0, LOOKS_MAX), { key: `others of ${looks[0]?.key}`, sentence: others(count) }]
}

/** `isMore`: there are more rows than were read. */
interface Read {
  isMore: boolean
}

export function errorLooks(
  groups: readonly Calls['listErrors']['reply'][number][],
  { window: query, from, isMore }: LookWindow & Read,
): Look[] {
  if (groups.length === 0) return []
  const fresh = from === undefined ? [] : groups.filter(({ firstSeenAt }) => firstSeenAt >= from)
  const runs = groups.reduce((sum, { count }) => sum + count, 0)
  const orMore = isMore ? ' or more' : ''
  return [
    {
      key: 'errors',
      sentence: (
        <>
          <Link target={{ to: 'errors', query }}>
            {runs}
            {orMore} {runs === 1 ? 'run' : 'runs'} failed in {groups.length}
            {orMore} open {groups.length === 1 ? 'group' : 'groups'}
          </Link>
          {fresh.length > 0 && `, ${fresh.length} new`}
        </>
      ),
    },
    ...groups.slice(0, LOOKS_MAX).map(({ fingerprint, count, workflow, kind, message }) => ({
      key: fingerprint,
      sentence: (
        <>
          <Status status="failed" word={String(count)} />{' '}
          <Link target={{ to: 'errorGroup', params: { fingerprint }, query }} title={message}>
            {cutText(message, 100, '…')}
          </Link>{' '}
          <span className="mute">
            {workflow}
            {kind && `, ${kindWords(kind)}`}
          </span>
        </>
      ),
    })),
  ]
}

/** Runs that a person must resume: they have used all their tries, or exceeded a budget. */
export function pausedLooks(facets: Calls['getRunFacets']['reply'] | undefined): Look[] {
  return (['failure', 'budget'] as const).flatMap(waiting => {
    const paused = facets?.waits.filter(({ status, waitingFor }) => status === 'paused' && waitingFor === waiting) ?? []
    const runs = paused.reduce((sum, each) => sum + each.runs, 0)
    if (runs === 0) return []
    const sentence = (
      <>
        <Link target={{ to: 'runs', query: { status: 'paused', waiting } }}>
          {runs} {runs === 1 ? 'run is' : 'runs are'} paused
        </Link>{' '}
        {waiting === 'failure'
          ? `after a failure: all retries failed. Resume ${runs === 1 ? 'it' : 'them'} to continue`
          : `over budget. Raise the limit of the budget to continue`}
      </>
    )
    return [{ key: `paused ${waiting}`, sentence }]
  })
}

/** Paused workflows whose runs wait until they are resumed. Limits and missing runners have their own sentences. */
export function heldLooks(stats: readonly Calls['getWorkflowStats']['reply'][number][]): Look[] {
  const looks = stats
    .map(({ app, workflow, heldBy }) => ({ app, workflow, held: heldBy['workflow-paused'] ?? 0 }))
    .filter(({ held }) => held > 0)
    .sort((a, b) => b.held - a.held)
    .map(({ app, workflow, held }) => ({
      key: `held ${app}/${workflow}`,
      sentence: (
        <>
          <Link target={{ to: 'runs', query: { app, workflow, waiting: 'workflow-paused' } }}>
            {held} {held === 1 ? 'run' : 'runs'} of {shortName(workflow)}
          </Link>{' '}
          in {shortName(app)} {held === 1 ? 'waits' : 'wait'}: the workflow is paused
        </>
      ),
    }))
  return shortened(looks, count => (
    <>
      <Link target={{ to: 'workflows' }}>
        {count} other paused {count === 1 ? 'workflow' : 'workflows'}
      </Link>{' '}
      {count === 1 ? 'has' : 'have'} waiting runs
    </>
  ))
}

/** Workflows whose live runners have different definitions. */
export function disagreementLooks(runners: readonly Calls['listRunners']['reply'][number][]): Look[] {
  const looks = disagreements(runners).map(({ app, workflow, runnerIds }) => ({
    key: `definition ${app}/${workflow}`,
    sentence: (
      <>
        <Link target={{ to: 'runners', query: { app, workflow } }}>{runnerIds.length} runners</Link> of {app} disagree
        on the definition of {shortName(workflow)}
      </>
    ),
  }))
  return shortened(looks, count => (
    <>
      Runners disagree on{' '}
      <Link target={{ to: 'runners' }}>
        {count} other {count === 1 ? 'definition' : 'definitions'}
      </Link>
    </>
  ))
}

/** By host, the one with the most deliveries first. */
export function deliveryLooks(
  exhausted: readonly Item<'listWebhookDeliveries'>[],
  { window, isMore }: Pick<LookWindow, 'window'> & Read,
): Look[] {
  const counts = new Map<string, number>()
  for (const { url } of exhausted) counts.set(hostOf(url), (counts.get(hostOf(url)) ?? 0) + 1)
  const query = { status: 'exhausted', ...window }
  const looks = [...counts]
    .sort((a, b) => b[1] - a[1])
    .map(([host, count]) => ({
      key: `deliveries ${host}`,
      sentence: (
        <>
          <Link target={{ to: 'deliveries', query }}>
            {count}
            {isMore ? ' or more' : ''} {count === 1 ? 'delivery' : 'deliveries'}
          </Link>{' '}
          to {shortName(host)} failed after all retries
        </>
      ),
    }))
  return shortened(looks, count => (
    <>
      <Link target={{ to: 'deliveries', query }}>
        Deliveries to {count} other {count === 1 ? 'host' : 'hosts'}
      </Link>{' '}
      failed after all retries
    </>
  ))
}

const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : url)

/** The limits that runs wait for, the longest wait first. */
export function limitLooks(limits: readonly Limit[], isMore: boolean): Look[] {
  const waited = limits
    .filter(limit => waitingOf(limit) !== 0)
    .sort((a, b) => ((a.oldestAt ?? '~') < (b.oldestAt ?? '~') ? -1 : 1))
  const orMore = isMore && waited.length === limits.length ? ' or more' : ''
  const looks = waited.map(limit => {
    const { app, workflow, key, kind, scope, oldestAt } = limit
    const count = waitingOf(limit)
    return {
      key: `limit ${[kind, scope, app, workflow, key].join(' ')}`,
      sentence: (
        <>
          <Link target={{ to: 'limits', query: { app, workflow, key } }}>
            {count} {count === 1 ? 'run' : 'runs'} of {shortName(workflow ?? app ?? 'the namespace')}
          </Link>{' '}
          {workflow !== undefined && `in ${shortName(app ?? '')} `}
          {count === 1 ? 'waits' : 'wait'} for {kind === 'throttle' ? 'the throttle' : 'a slot'}
          {key !== undefined && ` of key ${shortName(key)}`}
          {oldestAt !== undefined && (
            <>
              , the oldest created <Moment at={oldestAt} />
            </>
          )}
        </>
      ),
    }
  })
  return shortened(looks, count => (
    <>
      <Link target={{ to: 'limits' }}>
        {count}
        {orMore} other {count === 1 ? 'limit' : 'limits'}
      </Link>{' '}
      {count === 1 ? 'has' : 'have'} waiting runs
    </>
  ))
}

/** Whether an engine was started held and has not been released. */
export function heldEngineLooks(engines: readonly Calls['listEngines']['reply'][number][]): Look[] {
  if (!engines.some(({ held }) => held)) return []
  const sentence = (
    <>
      <Link target={{ to: 'engine' }}>An engine</Link> is held: nothing is claimed, fired or delivered until it is
      released
    </>
  )
  return [{ key: 'held', sentence }]
}

/** Lanes in which due work waits too long. */
export function laneLooks(engines: readonly Calls['listEngines']['reply'][number][]): Look[] {
  // The lag belongs to the store, so it is the same for all engines.
  const lanes = engines.flatMap(engine => engine.lanes)
  return (Object.keys(LANES) as Lane['lane'][]).flatMap(lane => {
    const lagMs = Math.max(0, ...lanes.flatMap(each => (each.lane === lane ? (each.lagMs ?? []) : [])))
    if (lagMs <= LAG_MS_MAX) return []
    const sentence = (
      <>
        <Link target={{ to: 'engine' }}>The {LANES[lane]} lane</Link> lags {durationText(lagMs)}
      </>
    )
    return [{ key: `lane ${lane}`, sentence }]
  })
}
