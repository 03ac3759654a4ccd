// The tree of a run: its event, its parent and source, its children, follow-ons and forks, each with its state.

import type { RunSummary } from '@perdure/protocol'
import { itemsOf, usePages, useRead } from '../../../data/queries.ts'
import { Link } from '../../../router/router.tsx'
import { Button } from '../../../ui/button.tsx'
import { durationText } from '../../../ui/duration.ts'
import { Status } from '../../../ui/status.tsx'
import { shortName } from '../../../ui/visible-text.ts'
import type { RunView } from '../model/use-run.ts'
import css from './tree-tab.module.css'

const PAGE = 50

export function TreeTab({ view }: { view: RunView }) {
  const { run } = view
  return (
    <div className={css.tree}>
      {run.eventId !== undefined && (
        <p className={css.event}>
          <span className={css.kind}>event</span>
          <Link target={{ to: 'event', params: { id: run.eventId } }}>{run.eventName ?? run.eventId}</Link>
        </p>
      )}
      {run.parentRunId !== undefined && <OneRun kind="parent" id={run.parentRunId} />}
      {run.replayOf !== undefined && <OneRun kind="source" id={run.replayOf} />}
      <ul className={css.list}>
        <li>
          <RunLine kind="this run" run={run} isSelf />
          <ul className={css.list}>
            <Group kind="child" filter={{ parentRunId: run.id }} />
            <Emitted view={view} />
            <Group kind="replay" filter={{ replayOf: run.id }} />
          </ul>
        </li>
        {run.eventId !== undefined && <Siblings eventId={run.eventId} own={run.id} />}
      </ul>
    </div>
  )
}

function OneRun({ kind, id }: { kind: string; id: string }) {
  const { data } = useRead('getRun', { id }, { keep: false })
  if (data) return <RunLine kind={kind} run={data} />
  return (
    <p className={css.line}>
      <span className={css.kind}>{kind}</span>
      <Link target={{ to: 'run', params: { id } }}>{id}</Link>
    </p>
  )
}

function RunLine({ kind, run, isSelf = false }: { kind: string; run: RunSummary; isSelf?: boolean }) {
  return (
    <p className={css.line} aria-current={isSelf || undefined}>
      <span className={css.kind}>{kind}</span>
      <Status status={run.status} />
      {isSelf ? (
        <strong>{shortName(run.workflow)}</strong>
      ) : (
        <Link target={{ to: 'run', params: { id: run.id } }}>{shortName(run.workflow)}</Link>
      )}
      <code className={css.id}>{run.id.slice(-8)}</code>
      {run.durationMs !== undefined && <span className={css.mute}>{durationText(run.durationMs)}</span>}
    </p>
  )
}

type Filter = { parentRunId: string } | { replayOf: string } | { eventId: string }

function Group({ kind, filter, without }: { kind: string; filter: Filter; without?: string }) {
  const pages = usePages('listRuns', { ...filter, dir: 'asc', limit: PAGE }, { keep: false })
  const runs = itemsOf(pages).filter(({ id }) => id !== without)
  return (
    <>
      {runs.map(run => (
        <li key={run.id}>
          <RunLine kind={kind} run={run} />
        </li>
      ))}
      {pages.hasNextPage && (
        <li>
          <Button onClick={() => void pages.fetchNextPage()}>More</Button>
        </li>
      )}
    </>
  )
}

/** Runs that the same event started. */
function Siblings({ eventId, own }: { eventId: string; own: string }) {
  return <Group kind="same event" filter={{ eventId }} without={own} />
}

/** Events that the run emitted, each with the runs that it started. */
function Emitted({ view }: { view: RunView }) {
  const emitted = view.steps.filter(({ emittedEventId }) => emittedEventId !== undefined).slice(0, PAGE)
  return emitted.map(({ id, emittedEventId = '', eventName }) => (
    <li key={id}>
      <p className={css.line}>
        <span className={css.kind}>emitted</span>
        <Link target={{ to: 'event', params: { id: emittedEventId } }}>{shortName(eventName ?? emittedEventId)}</Link>
      </p>
      <ul className={css.list}>
        <Group kind="started" filter={{ eventId: emittedEventId }} />
      </ul>
    </li>
  ))
}
