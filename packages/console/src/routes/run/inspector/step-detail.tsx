// One step in full: its result or error, its attempts, its logs and its references.

import type { StepDetail as DetailRecord } from '@perdure/protocol'
import { cutText, matchText } from '@perdure/protocol/portable'
import { lazy, Suspense, useState } from 'react'
import { sourceOf } from '../../../data/json/parse.ts'
import { useRead } from '../../../data/queries.ts'
import { Link, useQuery } from '../../../router/router.tsx'
import { Button, WriteButton } from '../../../ui/button.tsx'
import { durationText, exactMs } from '../../../ui/duration.ts'
import { JsonTree } from '../../../ui/json/json-tree.tsx'
import { CopyButton } from '../../../ui/overlay/copy.tsx'
import { Status } from '../../../ui/status.tsx'
import { exactTime, localTime } from '../../../ui/time.ts'
import { shortName } from '../../../ui/visible-text.ts'
import type { Row } from '../../../waterfall/folds.ts'
import { type Bar, isSettledStep, type LogFrame, type WaterfallStep } from '../../../waterfall/model.ts'
import { attemptsText, opOf } from '../../../waterfall/row-name.ts'
import { ErrorText } from '../model/error-text.tsx'
import { isTerminal, type RunView } from '../model/use-run.ts'
import { LogLines } from '../tabs/log-lines.tsx'
import css from './inspector.module.css'
import { Term, TimeTerm } from './term.tsx'

const SettleDialog = lazy(() => import('../actions/rare-dialogs.ts').then(all => ({ default: all.SettleDialog })))

/** Maximum number of log lines shown with a step; the tab has all. */
const LINES_MAX = 50

export interface StepDetailProps {
  row: Extract<Row, { kind: 'bar' }>
  view: RunView
  onRetry(stepName: string): void
}

export function StepDetail({ row, view, onRetry }: StepDetailProps) {
  const [, set] = useQuery('run')
  const [settles, setSettles] = useState(false)
  const { bar, runId } = row
  const isOwn = runId === undefined
  const step = isOwn ? view.steps.find(({ id }) => id === bar.id) : undefined
  const isBundle = view.isBundle === true
  const lines = isOwn ? linesOf(view, bar) : []
  const { data: detail } = useRead(
    'getRunStep',
    { id: runId ?? view.run.id, stepId: bar.id },
    { keep: false, enabled: (!isOwn || step !== undefined) && !isBundle },
  )
  const shown = step ?? detail
  return (
    <div className={css.detail}>
      <p className={css.state}>
        <Status status={bar.status} />
        <span>
          {opOf(bar.op).word}
          {bar.carried ? ', copied from the source run' : ''}
          {bar.rollback ? ', has a rollback' : ''}
        </span>
      </p>
      {shown ? <Outcome step={shown} detail={detail} isBundle={isBundle} /> : <ErrorOfBar bar={bar} />}
      {detail?.settledBy && <SettledBy by={detail.settledBy} />}
      {runId !== undefined && <ChildRun runId={runId} stepName={bar.label} />}
      {bar.carried ? <Source view={view} stepName={bar.label} /> : <Times bar={bar} view={view} step={shown} />}
      {bar.attempt > 1 &&
        (detail ? <MeasuredAttempts view={view} bar={bar} attempts={detail.attempts} /> : <Attempts bar={bar} />)}
      {shown && <References step={shown} isBundle={isBundle} />}
      {detail?.effects && <Effects effects={detail.effects} />}
      {lines.length > 0 && (
        <section>
          <h3>Logs</h3>
          <Button onClick={() => set({ tab: 'logs' })}>Show in log</Button>
          <LogLines lines={lines.slice(-LINES_MAX)} originMs={view.originMs} />
        </section>
      )}
      {isOwn && !isBundle && !isTerminal(view.run.status) && !isSettledStep(bar.status) && (
        <WriteButton onClick={() => setSettles(true)}>Settle…</WriteButton>
      )}
      {settles && (
        <Suspense>
          <SettleDialog runId={view.run.id} stepId={bar.id} stepName={bar.label} onClose={() => setSettles(false)} />
        </Suspense>
      )}
      {step && !view.isBundle && isTerminal(view.run.status) && (
        <WriteButton startsRuns onClick={() => onRetry(bar.label)}>
          Retry from here…
        </WriteButton>
      )}
    </div>
  )
}

function linesOf(view: RunView, bar: Bar): LogFrame[] {
  return view.frames.filter((frame): frame is LogFrame => frame.kind === 'log' && frame.scope === bar.label)
}

interface OutcomeProps {
  step: WaterfallStep
  /** The step with its result and its complete error, once it has been read. */
  detail: DetailRecord | undefined
  isBundle: boolean
}

function Outcome({ step, detail, isBundle }: OutcomeProps) {
  const { error, data } = isBundle ? step : { error: step.error, ...detail }
  if (error) return <ErrorText error={error} />
  if (data === undefined) return null
  return (
    <section>
      <h3>Result</h3>
      <JsonTree text={sourceOf(data)} label="the result" />
    </section>
  )
}

/** The error of a step that has not been read. */
function ErrorOfBar({ bar }: { bar: Bar }) {
  return bar.error === undefined ? null : <ErrorText error={{ message: bar.error }} />
}

function SettledBy({ by: { actor, reason, at } }: { by: NonNullable<DetailRecord['settledBy']> }) {
  return (
    <dl className={css.facts}>
      <Term name="Settled by" title={exactTime(Date.parse(at))}>
        {actor === undefined ? 'hand' : shortName(actor)}: {reason}
      </Term>
    </dl>
  )
}

/** The child run of a step: its page has the log. */
function ChildRun({ runId, stepName }: { runId: string; stepName: string }) {
  return (
    <dl className={css.facts}>
      <Term name="From child run">
        <Link target={{ to: 'run', params: { id: runId }, query: { step: stepName } }}>{runId}</Link>{' '}
        <Link target={{ to: 'run', params: { id: runId }, query: { tab: 'logs' } }}>logs</Link>
      </Term>
    </dl>
  )
}

/** Where a carried step was executed. */
function Source({ view, stepName }: { view: RunView; stepName: string }) {
  const { replayOf } = view.run
  if (replayOf === undefined) return null
  return (
    <dl className={css.facts}>
      <Term name="Executed in">
        <Link target={{ to: 'run', params: { id: replayOf }, query: { step: stepName } }}>{replayOf}</Link>
      </Term>
    </dl>
  )
}

function Times({ bar, view, step }: { bar: Bar; view: RunView; step: WaterfallStep | undefined }) {
  const startMs = view.originMs + bar.fromMs
  return (
    <dl className={css.facts}>
      <Term name="Started" title={exactTime(startMs)}>
        {durationText(bar.fromMs)} into the run, {localTime(startMs)}
      </Term>
      {bar.toMs !== undefined && (
        <Term name="Duration" title={exactMs(bar.toMs - bar.fromMs)}>
          {durationText(bar.toMs - bar.fromMs)}
        </Term>
      )}
      <Term name="Attempt">{attemptsText(bar)}</Term>
      {step?.runner !== undefined && <Term name="Runner">{step.runner}</Term>}
      {step?.wakeAt !== undefined && <TimeTerm name={bar.toMs === undefined ? 'Until' : 'Deadline'} at={step.wakeAt} />}
      {step?.nextAttemptAt !== undefined && <TimeTerm name="Next attempt" at={step.nextAttemptAt} />}
      <Term name="Step ID">
        <code className={css.id}>{bar.id.slice(0, 12)}…</code> <CopyButton text={bar.id} label="Copy step ID" />
      </Term>
    </dl>
  )
}

/** The attempts as the engine stores them: with the runner's measurements, and complete errors. */
function MeasuredAttempts({ view, bar, attempts }: { view: RunView; bar: Bar; attempts: DetailRecord['attempts'] }) {
  return (
    <section>
      <h3>Attempts</h3>
      <ol className={css.attempts}>
        {attempts.map(({ attempt, status, endedAt, ranAt, ranMs, runner, error }) => (
          <li key={attempt} value={attempt}>
            <Status status={status} />
            <span className={css.when}>
              at {durationText(Math.max(Date.parse(ranAt ?? endedAt) - view.originMs, 0))}
              {ranMs === undefined ? '' : `, took ${durationText(ranMs)}`}
              {runner === undefined ? '' : `, on ${shortName(runner)}`}
            </span>
            {error !== undefined && <ErrorText error={error} isShort={attempt === bar.attempt} />}
          </li>
        ))}
      </ol>
    </section>
  )
}

function Attempts({ bar }: { bar: Bar }) {
  const attempts = bar.segments.filter(({ kind }) => kind !== 'backoff')
  return (
    <section>
      <h3>Attempts</h3>
      <ol className={css.attempts}>
        {attempts.map(({ attempt, kind, fromMs, toMs, error }) => (
          <li key={attempt} value={attempt}>
            <Status status={kind === 'failed' ? 'failed' : toMs === undefined ? 'running' : bar.status} />
            <span className={css.when}>
              at {durationText(fromMs)}
              {toMs === undefined ? '' : `, took ${durationText(toMs - fromMs)}`}
            </span>
            {error !== undefined && <ErrorText error={{ message: error }} isShort />}
          </li>
        ))}
      </ol>
    </section>
  )
}

/** Links ids only in fields that are ids. */
function References({ step, isBundle }: { step: WaterfallStep; isBundle: boolean }) {
  const { childRunId, startedRunId, awaitedRunId, eventName, match, emittedEventId, deliveryId } = step
  if (!childRunId && !startedRunId && !awaitedRunId && !eventName && !emittedEventId && !deliveryId) return null
  return (
    <dl className={css.facts}>
      {childRunId && <RunTerm name="Child run" id={childRunId} isBundle={isBundle} />}
      {startedRunId && <RunTerm name="Started" id={startedRunId} isBundle={isBundle} />}
      {awaitedRunId && <RunTerm name="Waits for" id={awaitedRunId} isBundle={isBundle} />}
      {eventName && (
        <Term name="Event">
          <Link target={{ to: 'events', query: { name: eventName } }}>{cutText(eventName, 200)}</Link>
          {match !== undefined && <code> {cutText(matchText(match), 400)}</code>}
        </Term>
      )}
      {emittedEventId && (
        <Term name="Emitted">
          <Link target={{ to: 'event', params: { id: emittedEventId } }}>{emittedEventId}</Link>
        </Term>
      )}
      {deliveryId && (
        <Term name="Delivery">
          <Link target={{ to: 'delivery', params: { id: deliveryId } }}>{deliveryId}</Link>
        </Term>
      )}
    </dl>
  )
}

/** The effects of the event that a step emitted: the runs that it started, and the workflows at which a policy held it back. */
function Effects({ effects: { woke, triggered, more = 0 } }: { effects: NonNullable<DetailRecord['effects']> }) {
  return (
    <section>
      <h3>Effects</h3>
      <dl className={css.facts}>
        {triggered.map(({ app, workflow, runId, liveRunId, ...held }) => (
          <Term key={`${app}/${workflow}`} name={shortName(workflow)}>
            {HELD.find(([flag]) => held[flag])?.[1] ?? 'started'} <RunLink id={runId ?? liveRunId} />
          </Term>
        ))}
        {more > 0 && <Term name="More">{more} workflows, listed on the event</Term>}
        {woke > 0 && (
          <Term name="Resumed">
            {woke} {woke === 1 ? 'run' : 'runs'}
          </Term>
        )}
      </dl>
    </section>
  )
}

/** The words for a start that a policy held back, before the run that it names. */
const HELD = [
  ['delivered', 'delivered to this run'],
  ['skipped', 'skipped: this run is active'],
  ['dropped', 'dropped by a rate limit'],
  ['debounced', 'waiting in a debounce'],
  ['batched', 'waiting in a batch'],
  ['deduped', 'duplicate, not started again'],
] as const

function RunLink({ id }: { id: string | undefined }) {
  return id === undefined ? null : <Link target={{ to: 'run', params: { id } }}>{id}</Link>
}

/** A run that a step names. */
function RunTerm({ name, id, isBundle }: { name: string; id: string; isBundle: boolean }) {
  return (
    <Term name={name}>
      <RunLink id={id} /> {!isBundle && <ChildStatus id={id} />}
    </Term>
  )
}

function ChildStatus({ id }: { id: string }) {
  const { data } = useRead('getRun', { id }, { keep: false })
  return data ? <Status status={data.status} /> : null
}
