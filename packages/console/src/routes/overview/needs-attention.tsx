// Everything that needs attention, each a sentence with a link. Says that nothing does only if everything was read.

import type { UseQueryResult } from '@tanstack/react-query'
import { useRef } from 'react'
import { itemsOf, usePages, useRead } from '../../data/queries.ts'
import { useNow } from '../../data/time/clock.ts'
import { useKeys } from '../../keys/keys.ts'
import { Link } from '../../router/router.tsx'
import { ErrorBanner, Waiting } from '../../ui/states/loaded.tsx'
import { Panel } from '../../ui/states/page.tsx'
import { isLimit } from '../limits/limit.ts'
import {
  deliveryLooks,
  disagreementLooks,
  errorLooks,
  heldEngineLooks,
  heldLooks,
  type Look,
  type LookWindow,
  laneLooks,
  limitLooks,
  pausedLooks,
} from './looks.tsx'
import css from './overview.module.css'
import { runnerLooks } from './runner-looks.tsx'
import { scheduleLooks } from './schedule-looks.tsx'

/** First the schedules that are late, then those that fire soonest. */
export const SOONEST = { sort: 'next', limit: 50 } as const
const MISSED_READ = 100
/** Number of error groups, workflows and limits that are read: the engine's maximum. */
const READ_MAX = 200

export function NeedsAttention(props: LookWindow) {
  return props.window.until === undefined ? <LooksOfNow {...props} /> : <LooksOfThen {...props} />
}

/** Whether there may be more rows than were read. */
const isCut = (rows: readonly unknown[] | undefined) => rows?.length === READ_MAX

/** Reads what happened in the window. */
function usePast({ window: { until }, from }: LookWindow) {
  const errors = useRead('listErrors', { state: 'open', since: from, until, limit: READ_MAX })
  const deliveries = usePages('listWebhookDeliveries', { status: 'exhausted', since: from, until, limit: 100 })
  const missed = usePages('listSchedules', { sort: 'missed', limit: MISSED_READ })
  return { errors, deliveries, 'missed schedules': missed }
}

/** The sentences of a past window. The state of limits, runners and schedules is only known for the present. */
function LooksOfThen(props: LookWindow) {
  const past = usePast(props)
  const looks = [
    ...errorLooks(past.errors.data ?? [], { ...props, isMore: isCut(past.errors.data) }),
    ...deliveryLooks(itemsOf(past.deliveries), { ...props, isMore: past.deliveries.hasNextPage }),
    ...scheduleLooks({ soonest: [], missed: itemsOf(past['missed schedules']), areMore: false }, props),
  ]
  return (
    <Panel title="Needs attention">
      <Looks parts={past} looks={looks} none="Nothing. No open errors, and no deliveries gave up in this window." />
      <p className={`mute ${css.note}`}>
        Limits, runners, schedules and lanes have no history: <Link target={{ to: 'overview' }}>show them now</Link>.
      </p>
    </Panel>
  )
}

function LooksOfNow(props: LookWindow) {
  const { errors, deliveries, ...past } = usePast(props)
  const runners = useRead('listRunners', {})
  const schedules = usePages('listSchedules', SOONEST)
  const stats = useRead('getWorkflowStats', { since: props.from, limit: READ_MAX })
  const limits = useRead('listLimits', { limit: READ_MAX })
  const engines = useRead('listEngines', {})
  const facets = useRead('getRunFacets', {})
  const workflows = useRead('listWorkflows', {})
  const nowMs = useNow()
  const held = limits.data?.filter(isLimit) ?? []
  const counts = { limits, 'paused runs': facets, workflows: stats, definitions: workflows }
  const parts = { errors, ...counts, runners, deliveries, schedules, ...past, engines }
  const known = {
    workflows: workflows.data ?? [],
    runners: runners.data ?? [],
    stats: stats.data ?? [],
    engines: engines.data ?? [],
  }
  // Only all of these together show that a runner is missing.
  const isKnown = [workflows, runners, stats, engines].every(({ data }) => data !== undefined)
  const looks = [
    ...heldEngineLooks(engines.data ?? []),
    ...errorLooks(errors.data ?? [], { ...props, isMore: isCut(errors.data) }),
    ...limitLooks(held, isCut(limits.data)),
    ...pausedLooks(facets.data),
    ...heldLooks(stats.data ?? []),
    ...(isKnown ? runnerLooks({ ...known, nowMs }) : []),
    ...disagreementLooks(runners.data ?? []),
    ...deliveryLooks(itemsOf(deliveries), { ...props, isMore: deliveries.hasNextPage }),
    ...scheduleLooks(
      { soonest: itemsOf(schedules), missed: itemsOf(past['missed schedules']), areMore: schedules.hasNextPage },
      props,
    ),
    ...laneLooks(engines.data ?? []),
  ]
  return (
    <Panel title="Needs attention">
      <Looks parts={parts} looks={looks} none="Nothing. No open errors, no silent runners, nothing late." />
    </Panel>
  )
}

interface LooksProps {
  parts: Readonly<Record<string, Part>>
  looks: readonly Look[]
  /** The sentence if everything was read and nothing needs attention. */
  none: string
}

function Looks({ parts, looks, none }: LooksProps) {
  return (
    <>
      <Faults parts={parts} />
      {looks.length > 0 ? <Sentences looks={looks} /> : <None parts={Object.values(parts)} text={none} />}
    </>
  )
}

type Part = Pick<UseQueryResult<unknown>, 'error' | 'data' | 'isFetching' | 'refetch'>

/** The parts that could not be read: whether they need attention is unknown. */
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
      <p className="mute">Not checked: {failed.map(([name]) => name).join(', ')}.</p>
    </>
  )
}

/** No sentence: because all is well, or because not everything was read. */
function None({ parts, text }: { parts: readonly Part[]; text: string }) {
  if (parts.some(({ error }) => error !== null)) return null
  if (parts.some(({ data }) => data === undefined)) return <Waiting rows={2} />
  return <p className="mute">{text}</p>
}

/** The sentences. The keys j and k move between them, and Enter follows the link. */
function Sentences({ looks }: { looks: readonly Look[] }) {
  const list = useRef<HTMLUListElement>(null)
  const move = (by: number) => {
    const links = [...(list.current?.children ?? [])].flatMap(each => each.querySelector('a') ?? [])
    const at = links.indexOf(document.activeElement as HTMLAnchorElement)
    links[at < 0 ? 0 : Math.max(0, Math.min(links.length - 1, at + by))]?.focus()
  }
  useKeys('Needs attention', [
    { keys: 'j', label: 'Next item', run: () => move(1) },
    { keys: 'k', label: 'Previous item', run: () => move(-1) },
  ])
  return (
    <ul ref={list} className={`plain-list ${css.list}`}>
      {looks.map(({ key, sentence }) => (
        <li key={key}>{sentence}</li>
      ))}
    </ul>
  )
}
