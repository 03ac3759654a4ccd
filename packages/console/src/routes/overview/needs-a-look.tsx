// Everything that is not as it should be, each a sentence with a link. "Nothing" is said only when everything was read.

import type { UseQueryResult } from '@tanstack/react-query'
import { useRef } from 'react'
import { itemsOf, usePages, useRead } from '../../data/queries.ts'
import { useKeys } from '../../keys/keys.ts'
import { ErrorBanner, Waiting } from '../../ui/states/loaded.tsx'
import { Panel } from '../../ui/states/page.tsx'
import { isLimit } from '../limits/limit.ts'
import {
  deliveryLooks,
  disagreementLooks,
  errorLooks,
  heldLooks,
  type Look,
  laneLooks,
  limitLooks,
  missedLooks,
  runnerLooks,
  scheduleLooks,
} from './looks.tsx'
import css from './overview.module.css'

/** The schedules that are late, then those that fire soonest. */
export const SOONEST = { sort: 'next', limit: 50 } as const
const MISSED_READ = 10

export function NeedsALook({ from }: { from: string | undefined }) {
  const errors = useRead('listErrors', { since: from })
  const runners = useRead('listRunners', {})
  const exhausted = usePages('listWebhookDeliveries', { status: 'exhausted', since: from, limit: 100 })
  const schedules = usePages('listSchedules', SOONEST)
  const missed = usePages('listSchedules', { sort: 'missed', limit: MISSED_READ })
  const stats = useRead('getWorkflowStats', { since: from, limit: 200 })
  const limits = useRead('listLimits', {})
  const engines = useRead('listEngines', {})
  const held = limits.data?.filter(isLimit) ?? []
  const parts: Record<string, Part> = {
    errors,
    limits,
    workflows: stats,
    runners,
    deliveries: exhausted,
    schedules,
    'missed schedules': missed,
    engines,
  }
  const looks: Look[] = [
    ...errorLooks(errors.data ?? [], from),
    ...limitLooks(held),
    ...heldLooks(stats.data ?? [], held),
    ...runnerLooks(runners.data ?? []),
    ...disagreementLooks(runners.data ?? []),
    ...deliveryLooks(itemsOf(exhausted), exhausted.hasNextPage),
    ...scheduleLooks(itemsOf(schedules), schedules.hasNextPage),
    ...missedLooks(itemsOf(missed), from),
    ...laneLooks(engines.data ?? []),
  ]
  return (
    <Panel title="Needs a look">
      <Faults parts={parts} />
      {looks.length > 0 ? <Sentences looks={looks} /> : <None parts={Object.values(parts)} />}
    </Panel>
  )
}

type Part = Pick<UseQueryResult<unknown>, 'error' | 'data' | 'isFetching' | 'refetch'>

/** The parts that could not be read: what needs a look there is not known. */
function Faults({ parts }: { parts: Readonly<Record<string, Part>> }) {
  const failed = Object.entries(parts).filter(([, { error }]) => error !== null)
  const [first] = failed
  if (!first) return null
  const [, { error }] = first
  return (
    <>
      <ErrorBanner
        error={error as Error}
        isRetrying={failed.some(([, { isFetching }]) => isFetching)}
        onRetry={() => failed.map(([, { refetch }]) => refetch())}
      />
      <p className={css.mute}>Not looked at: {failed.map(([name]) => name).join(', ')}.</p>
    </>
  )
}

/** No sentence: because all is well, or because not everything was read. */
function None({ parts }: { parts: readonly Part[] }) {
  if (parts.some(({ error }) => error !== null)) return null
  if (parts.some(({ data }) => data === undefined)) return <Waiting rows={2} />
  return <p className={css.mute}>Nothing. No run failed, no runner is silent, nothing is late.</p>
}

/** The keys j and k go from one sentence to the next, and Enter follows its link. */
function Sentences({ looks }: { looks: readonly Look[] }) {
  const list = useRef<HTMLUListElement>(null)
  const move = (by: number) => {
    const links = [...(list.current?.children ?? [])].flatMap(each => each.querySelector('a') ?? [])
    const at = links.indexOf(document.activeElement as HTMLAnchorElement)
    links[at < 0 ? 0 : Math.max(0, Math.min(links.length - 1, at + by))]?.focus()
  }
  useKeys('Needs a look', [
    { keys: 'j', label: 'Next sentence', run: () => move(1) },
    { keys: 'k', label: 'Previous sentence', run: () => move(-1) },
  ])
  return (
    <ul ref={list} className={`${css.list} ${css.sentences}`}>
      {looks.map(({ key, sentence }) => (
        <li key={key}>{sentence}</li>
      ))}
    </ul>
  )
}
