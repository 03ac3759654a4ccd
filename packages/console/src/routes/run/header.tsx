// The facts of a run below its title: its origin, its relations, and its times.

import { Fragment, lazy, Suspense, useState } from 'react'
import { sourceOf } from '../../data/json/parse.ts'
import { useNow } from '../../data/time/clock.ts'
import { Link } from '../../router/router.tsx'
import { WriteButton } from '../../ui/button.tsx'
import { durationText, exactMs } from '../../ui/duration.ts'
import { Moment } from '../../ui/moment.tsx'
import { CopyButton } from '../../ui/overlay/copy.tsx'
import Progress from '../../ui/progress/progress.tsx'
import { byText, usePauseOfRun } from '../../ui/states/pauses.ts'
import { Status } from '../../ui/status.tsx'
import { agoText, exactTime } from '../../ui/time.ts'
import { useVeil } from '../../ui/veil.ts'
import { kindWords, shortName } from '../../ui/visible-text.ts'
import { useForks } from './actions/replay-dialog.tsx'
import { Fact } from './fact.tsx'
import { FollowOns } from './follow-ons.tsx'
import css from './header.module.css'
import type { RunView } from './model/use-run.ts'

const BudgetDialog = lazy(() => import('./actions/rare-dialogs.ts').then(all => ({ default: all.BudgetDialog })))

export function Header({ view }: { view: RunView }) {
  const { run } = view
  const now = useNow()
  const created = Date.parse(run.createdAt)
  return (
    <dl className={css.facts}>
      <Fact name="Status">
        <Status status={run.status} />
      </Fact>
      {!view.isBundle && <Paused run={run} />}
      <Fact name="Run">
        <code className={css.id}>{run.id}</code>
        <CopyButton text={run.id} label="Copy run ID" keys="c" />
      </Fact>
      <Fact name="Workflow">
        <OfWorkflow view={view} />
      </Fact>
      <Fact name="App">
        <OfApp view={view} />
      </Fact>
      <Fact name="Started by">
        <Trigger view={view} />
      </Fact>
      {run.parentRunId !== undefined && (
        <Fact name={PARENTS[run.kind ?? 'run']}>
          <Link target={{ to: 'run', params: { id: run.parentRunId } }} title="Parent (p)">
            {run.parentRunId.slice(-8)}
          </Link>
        </Fact>
      )}
      <LinkedRun name="Continues" id={run.continuedFrom} />
      <LinkedRun name="Continued as" id={run.continuedAs} />
      {run.kind !== undefined && <Fact name="Kind">{kindWords(run.kind)}</Fact>}
      {!view.isBundle && <Forks runId={run.id} />}
      {!view.isBundle && (run.status === 'failed' || run.status === 'cancelled') && <FollowOns run={run} />}
      {run.key !== undefined && (
        <Fact name="Key">
          <Link target={{ to: 'runs', query: { workflow: run.workflow, app: run.app, key: run.key } }}>
            {shortName(run.key)}
          </Link>
        </Fact>
      )}
      {run.runner !== undefined && <Fact name="Pinned to">{shortName(run.runner)}</Fact>}
      {run.attempt > 1 && <Fact name="Attempt">{run.attempt}</Fact>}
      <Fact name="Created">
        <span title={exactTime(created)}>{agoText(created, now)}</span>
      </Fact>
      <Fact name={view.isLive ? 'Age' : 'Duration'}>
        <Duration view={view} now={now} />
      </Fact>
      <Budget view={view} />
      <Attributes run={run} />
      {run.progress !== undefined && (
        <Fact name="Progress">
          <Progress source={sourceOf(run.progress.value)} />{' '}
          <span className="mute">
            <Moment at={run.progress.at} />
          </span>
        </Fact>
      )}
    </dl>
  )
}

/** When an operator paused the run, and who did. The why line shows the engine's own pauses. */
function Paused({ run: { id, status, waitingFor } }: { run: RunView['run'] }) {
  const isByEngine = waitingFor?.kind === 'failure' || waitingFor?.kind === 'budget'
  const pause = usePauseOfRun(id, status === 'paused' && !isByEngine)
  if (!pause) return null
  return (
    <Fact name="Paused">
      <Link target={{ to: 'run', params: { id }, query: { tab: 'audit' } }} title="Show the audit of the run">
        <Moment at={pause.at} />
      </Link>
      {byText(pause)}
    </Fact>
  )
}

/** The budget, which began with the chain of the run. */
function Budget({ view: { run, isBundle, isLive } }: { view: RunView }) {
  const [sets, setSets] = useState(false)
  const { budget } = run
  if (budget === undefined) return undefined
  return (
    <Fact name="Budget">
      {Object.entries(budget).map(([name, { limit, spent }], no) => (
        <Fragment key={name}>
          {no > 0 && ', '}
          <span className={Number(spent) > Number(limit) ? css.over : undefined}>
            {String(spent)} of {String(limit)} {shortName(name)}
          </span>
        </Fragment>
      ))}{' '}
      {isLive && !isBundle && <WriteButton onClick={() => setSets(true)}>Set…</WriteButton>}
      {sets && (
        <Suspense>
          <BudgetDialog runId={run.id} budget={budget} onClose={() => setSets(false)} />
        </Suspense>
      )}
    </Fact>
  )
}

/** The label of a run's `parentRunId`, by the kind of the run. */
const PARENTS = { run: 'Parent', onFailure: 'Handles failure of', cleanup: 'Cleans up after' }

function LinkedRun({ name, id }: { name: string; id: string | undefined }) {
  if (id === undefined) return null
  return (
    <Fact name={name}>
      <Link target={{ to: 'run', params: { id } }}>{id.slice(-8)}</Link>
    </Fact>
  )
}

function Trigger({ view }: { view: RunView }) {
  const { eventId, eventName, cron, replayOf, triggerKind } = view.run
  if (replayOf !== undefined)
    return (
      <>
        replay of <Link target={{ to: 'run', params: { id: replayOf } }}>{replayOf.slice(-8)}</Link> (
        <Link target={{ to: 'run', params: { id: view.run.id }, query: { diff: replayOf } }}>compare</Link>)
      </>
    )
  if (eventId !== undefined)
    return (
      <>
        event <Link target={{ to: 'event', params: { id: eventId } }}>{shortName(eventName ?? eventId)}</Link>
      </>
    )
  if (cron !== undefined) return <>cron {shortName(cron)}</>
  if (view.run.kind !== undefined) return view.run.kind === 'cleanup' ? 'end of a run' : 'failure of a run'
  if (view.run.parentRunId !== undefined) return 'parent run'
  const { startedBy } = view.run
  if (startedBy !== undefined)
    return (
      <>
        step {shortName(startedBy.stepName)} of{' '}
        <Link target={{ to: 'run', params: { id: startedBy.runId } }}>{startedBy.runId.slice(-8)}</Link>
      </>
    )
  return triggerKind === 'event' ? 'direct start' : triggerKind
}

/** Facts by which lists find the run. They may be parts of its input, so they are hidden together with it. */
function Attributes({ run: { attributes = {} } }: { run: RunView['run'] }) {
  const { isHidden } = useVeil()
  const entries = Object.entries(attributes)
  if (entries.length === 0) return null
  return (
    <Fact name="Attributes">
      {entries.map(([key, value], i) => (
        <span key={key}>
          {i > 0 && ' · '}
          {isHidden ? (
            key
          ) : (
            <Link target={{ to: 'runs', query: { attribute: `${key}:${value}` } }} title="Runs with this attribute">
              <bdi>
                {key}:{shortName(String(value))}
              </bdi>
            </Link>
          )}
        </span>
      ))}
    </Fact>
  )
}

function OfWorkflow({ view: { run, isBundle } }: { view: RunView }) {
  const name = shortName(run.workflow)
  if (isBundle) return name
  return <Link target={{ to: 'workflow', params: { app: run.app, name: run.workflow } }}>{name}</Link>
}

function OfApp({ view: { run, isBundle } }: { view: RunView }) {
  const name = shortName(run.app)
  return isBundle ? name : <Link target={{ to: 'app', params: { app: run.app } }}>{name}</Link>
}

function Forks({ runId }: { runId: string }) {
  const forks = useForks(runId)
  if (!forks) return null
  return (
    <Fact name="Replays">
      <Link target={{ to: 'run', params: { id: runId }, query: { tab: 'tree' } }}>{forks}</Link>
    </Fact>
  )
}

function Duration({ view, now }: { view: RunView; now: number }) {
  const { durationMs } = view.run
  const ms = durationMs ?? (view.isLive ? Math.max(now - view.originMs, 0) : undefined)
  return ms === undefined ? <>never started</> : <span title={exactMs(ms)}>{durationText(ms)}</span>
}
