// Why an event did what it did at each workflow, then or now, and which runs it woke. The engine writes the sentences.

import type { EventExplanation, EventVerdict } from '@perdure/protocol'
import { Fragment, useState } from 'react'
import { useRead } from '../../data/queries.ts'
import { Link } from '../../router/router.tsx'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/states/empty.tsx'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Panel } from '../../ui/states/page.tsx'
import { type Column, DataTable } from '../../ui/table/data-table.tsx'
import { shortName } from '../../ui/visible-text.ts'
import css from '../events/events.module.css'

const WORDS: Record<EventVerdict['outcome'], string> = {
  run: '✓ started',
  deduped: '✕ repeat',
  dropped: '✕ rate limit',
  skipped: '✕ singleton',
  debounced: '✓ in a burst',
  batched: '✓ in a batch',
  filter: '✕ filter',
  'other-app': '✕ other app',
  suspended: '✕ suspended',
  'no-trigger': '✕ no trigger then',
}

const COLUMNS: readonly Column<EventVerdict>[] = [
  {
    id: 'workflow',
    header: 'Workflow',
    width: '24%',
    render: ({ app, workflow }) => (
      <Link target={{ to: 'workflow', params: { app, name: workflow } }}>{shortName(workflow)}</Link>
    ),
  },
  { id: 'app', header: 'App', width: '14%', render: ({ app }) => app },
  { id: 'outcome', header: 'Outcome', width: '130px', render: ({ outcome }) => WORDS[outcome] },
  { id: 'why', header: 'Why', render: verdict => <Why verdict={verdict} /> },
]

export function WhyPanel({ id }: { id: string }) {
  const [isNow, setNow] = useState(false)
  const query = useRead('explainEvent', { id, now: isNow }, { keep: false })
  return (
    <Panel
      title={isNow ? 'What it would do now' : 'What it did, and why'}
      isFlush
      actions={
        <Button aria-pressed={isNow} onClick={() => setNow(!isNow)}>
          {isNow ? 'Show the decision of then' : 'Decide it again, now'}
        </Button>
      }
    >
      <Loaded query={query}>{why => <Decision why={why} />}</Loaded>
    </Panel>
  )
}

function Decision({ why }: { why: EventExplanation }) {
  const { sentence, workflows, woken = [], waited, nearest = [], name, eventId, warnings = [] } = why
  return (
    <>
      <p className={css.note}>{sentence}</p>
      {workflows.length > 0 ? (
        <DataTable
          label="Workflows with a trigger for the name"
          columns={COLUMNS}
          rows={workflows}
          keyOf={({ app, workflow }) => `${app}\n${workflow}`}
        />
      ) : (
        <Empty title={`No workflow has a trigger for ${shortName(name)}`}>
          {waited === undefined && nearest.length > 0 && (
            <p>
              Send it to{' '}
              {nearest.map((other, no) => (
                <Fragment key={other}>
                  {no > 0 && ', '}
                  <Link target={{ to: 'sendEvent', query: { like: eventId, name: other } }}>{shortName(other)}</Link>
                </Fragment>
              ))}{' '}
              instead.
            </p>
          )}
        </Empty>
      )}
      {woken.length > 0 && (
        <ul className={css.note} aria-label="Runs that it woke">
          {woken.map(({ runId, stepName }) => (
            <li key={runId}>
              It woke <Link target={{ to: 'run', params: { id: runId } }}>{runId}</Link>
              {stepName !== undefined && `, which waited at ${shortName(stepName)}`}
            </li>
          ))}
        </ul>
      )}
      {warnings.map(warning => (
        <p key={warning} className={css.note}>
          {warning}
        </p>
      ))}
    </>
  )
}

function Why({ verdict: { sentence, trigger, outcome, runId, liveRunId, repeatOf } }: { verdict: EventVerdict }) {
  const run = runId ?? liveRunId
  return (
    <span title={sentence}>
      {outcome === 'filter' && trigger?.if !== undefined && <code>{trigger.if}</code>}{' '}
      {run !== undefined && <Link target={{ to: 'run', params: { id: run } }}>{run}</Link>}
      {repeatOf !== undefined && <Link target={{ to: 'event', params: { id: repeatOf } }}>{repeatOf}</Link>}{' '}
      {run === undefined && <span className={css.mute}>{sentence}</span>}
    </span>
  )
}
