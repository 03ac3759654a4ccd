// The sentences about runners: apps and workflows that no runner serves, and silent runners while others are live.

import type { Calls } from '@perdure/client'
import { Link } from '../../router/router.tsx'
import { durationText } from '../../ui/duration.ts'
import { Moment } from '../../ui/moment.tsx'
import { shortName } from '../../ui/visible-text.ts'
import { type Look, shortened } from './looks.tsx'
import { type Registered, type RunnerFacts, unserved } from './unserved.ts'

/** Runners report at least this often, or count as silent, unless `ENGINE_RUNNER_STALE_AFTER` says otherwise. */
const REPORT_MS = 90_000

export interface RunnerLooks {
  workflows: readonly Registered[]
  runners: readonly RunnerFacts[]
  stats: readonly Calls['getWorkflowStats']['reply'][number][]
  engines: Calls['listEngines']['reply']
  nowMs: number
}

export function runnerLooks({ workflows, runners, stats, engines, nowMs }: RunnerLooks): Look[] {
  const startedAt = Math.min(nowMs, ...engines.map(({ startedAt }) => Date.parse(startedAt)))
  // While no engine ran, no runner could report, so the silence is not the runners' fault.
  if (nowMs - startedAt < REPORT_MS) return youngEngine(runners, nowMs - startedAt)
  const missing = unserved(workflows, runners, stats)
  const dead = new Set(missing.flatMap(({ app, workflow }) => (workflow === undefined ? [app] : [])))
  return [
    ...shortened(missing.map(unservedLook), count => (
      <>
        <Link target={{ to: 'runners' }}>{count} others</Link> have no live runner
      </>
    )),
    ...silentLooks(
      runners.filter(({ live, app }) => !live && !dead.has(app)),
      startedAt,
    ),
  ]
}

function youngEngine(runners: readonly RunnerFacts[], upMs: number): Look[] {
  const count = runners.filter(({ live }) => !live).length
  if (count === 0) return []
  const sentence = (
    <>
      The engine started {durationText(upMs)} ago, and{' '}
      <Link target={{ to: 'runners' }}>
        {count} {count === 1 ? 'runner has' : 'runners have'}
      </Link>{' '}
      not reported yet: allow {durationText(REPORT_MS)}
    </>
  )
  return [{ key: 'young engine', sentence }]
}

function unservedLook({ app, workflow, waiting, lastSeenAt }: ReturnType<typeof unserved>[number]): Look {
  const query = { app, ...(workflow === undefined ? {} : { workflow }) }
  return {
    key: `unserved ${app}/${workflow ?? ''}`,
    sentence: (
      <>
        {workflow === undefined ? 'App ' : 'Workflow '}
        <Link target={{ to: 'runners', query: { app } }}>{shortName(workflow ?? app)}</Link>
        {workflow !== undefined && ` in ${shortName(app)}`} has no live runner
        {lastSeenAt !== undefined && (
          <>
            , last seen <Moment at={lastSeenAt} />
          </>
        )}
        {waiting > 0 && (
          <>
            :{' '}
            <Link target={{ to: 'runs', query: { ...query, waiting: 'runner' } }}>
              {waiting} {waiting === 1 ? 'run waits' : 'runs wait'}
            </Link>
          </>
        )}
      </>
    ),
  }
}

function silentLooks(silent: readonly RunnerFacts[], startedAt: number): Look[] {
  const looks = silent.map(({ app, runnerId, lastSeenAt }) => ({
    key: `runner ${app}/${runnerId}`,
    sentence: (
      <>
        Runner <Link target={{ to: 'runners', query: { app } }}>{shortName(runnerId)}</Link>{' '}
        {Date.parse(lastSeenAt) < startedAt ? (
          <>
            has not reconnected since the engine started <Moment at={new Date(startedAt).toISOString()} />
          </>
        ) : (
          <>
            is silent, last seen <Moment at={lastSeenAt} />
          </>
        )}
      </>
    ),
  }))
  return shortened(looks, count => (
    <>
      <Link target={{ to: 'runners' }}>
        {count} other {count === 1 ? 'runner' : 'runners'}
      </Link>{' '}
      {count === 1 ? 'is' : 'are'} silent
    </>
  ))
}
