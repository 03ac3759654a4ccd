// Why an event had its effect at each workflow, then or now, and which runs it woke. The engine writes the sentences.

import type { EventExplanation, EventVerdict } from '@perdure/protocol'
import { matchText } from '@perdure/protocol/portable'
import { Fragment, useState } from 'react'
import { useRead } from '../../data/queries.ts'
import { Link } from '../../router/router.tsx'
import { Button } from '../../ui/button.tsx'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Panel } from '../../ui/states/page.tsx'
import { type Column, DataTable } from '../../ui/table/data-table.tsx'
import { WholeRows } from '../../ui/table/whole-rows.tsx'
import { shortName } from '../../ui/visible-text.ts'
import css from '../events/events.module.css'

const WORDS: Record<EventVerdict['outcome'], string> = {
  run: '✓ started',
  delivered: '✓ delivered',
  deduped: '✕ duplicate',
  dropped: '✕ rate limit',
  skipped: '✕ singleton',
  debounced: '✓ debounced',
  batched: '✓ batched',
  filter: '✕ filter',
  'other-app': '✕ other app',
  suspended: '✕ suspended',
  'no-trigger': '✕ no trigger yet',
  'own-end': '✕ own end',
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
  { id: 'why', header: 'Details', render: verdict => <Why verdict={verdict} /> },
]

export function WhyPanel({ id }: { id: string }) {
  const [isNow, setNow] = useState(false)
  const query = useRead('explainEvent', { id, now: isNow }, { keep: false })
  return (
    <Panel
      title={isNow ? 'Re-evaluated outcome' : 'Outcome by workflow'}
      isFlush
      actions={
        <Button aria-pressed={isNow} onClick={() => setNow(!isNow)}>
          {isNow ? 'Show original outcome' : 'Re-evaluate'}
        </Button>
      }
    >
      <Loaded query={query}>{why => <Decision why={why} />}</Loaded>
    </Panel>
  )
}

function Decision({ why }: { why: EventExplanation }) {
  const { sentence, workflows, woken = [], waited, nearest = [], eventId, warnings = [] } = why
  return (
    <>
      <p className={css.note}>{sentence}</p>
      {workflows.length > 0 ? (
        <WholeRows count={workflows.length}>
          <DataTable
            label="Workflows triggered by this name"
            columns={COLUMNS}
            rows={workflows}
            keyOf={({ app, workflow }) => `${app}\n${workflow}`}
          />
        </WholeRows>
      ) : (
        waited === undefined &&
        nearest.length > 0 && (
          <p className={css.note}>
            Send it to{' '}
            {nearest.map((other, no) => (
              <Fragment key={other}>
                {no > 0 && ', '}
                <Link target={{ to: 'sendEvent', query: { like: eventId, name: other } }}>{shortName(other)}</Link>
              </Fragment>
            ))}{' '}
            instead.
          </p>
        )
      )}
      {woken.length > 0 && (
        <ul className={css.note} aria-label="Runs resumed">
          {woken.map(({ runId, stepName }) => (
            <li key={runId}>
              Resumed <Link target={{ to: 'run', params: { id: runId } }}>{runId}</Link>
              {stepName !== undefined && `, which was waiting at ${shortName(stepName)}`}
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
      {outcome === 'filter' && trigger?.match !== undefined && <code>{matchText(trigger.match)}</code>}{' '}
      {outcome === 'filter' && trigger?.if !== undefined && <code>{trigger.if}</code>}{' '}
      {run !== undefined && <Link target={{ to: 'run', params: { id: run } }}>{run}</Link>}
      {repeatOf !== undefined && <Link target={{ to: 'event', params: { id: repeatOf } }}>{repeatOf}</Link>}{' '}
      {run === undefined && <span className="mute">{sentence}</span>}
    </span>
  )
}
