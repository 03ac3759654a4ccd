// One bulk job: its action and its runs, its progress, its results run by run, and the ways to stop it and to repeat the failed
// runs.

import { cutText } from '@perdure/protocol/portable'
import { useEffect } from 'react'
import { type Item, keyOf, queryClient, useRead } from '../../data/queries.ts'
import { useWrite } from '../../data/write.ts'
import { useTopic } from '../../live/use-live.ts'
import { Link, useQuery } from '../../router/router.tsx'
import { Facts } from '../../ui/facts.tsx'
import { useRenewal } from '../../ui/live-list/use-renewal.ts'
import { Moment } from '../../ui/moment.tsx'
import { ConfirmButton } from '../../ui/overlay/confirm-button.tsx'
import { Polite } from '../../ui/overlay/polite.tsx'
import { toastError } from '../../ui/overlay/toasts.tsx'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Page, Panel } from '../../ui/states/page.tsx'
import { Status } from '../../ui/status.tsx'
import { Visible } from '../../ui/visible.tsx'
import { ACTIONS, grouped, runsText } from '../runs/bulk/actions.ts'
import { Again } from './again.tsx'
import css from './bulk.module.css'
import { type BulkDetail, filterText, JobStatus, reachedOf, runsQuery } from './job-text.tsx'
import { Results } from './results.tsx'

export function Job({ id }: { id: string }) {
  const [get] = useQuery('bulk')
  const query = useLiveJob(id)
  const job = query.data
  const title = job ? `Bulk ${ACTIONS[job.action].verb.toLowerCase()}` : 'Bulk job'
  const of = job && expected(get('of'), job)
  return (
    <Page
      title={of === undefined ? title : `${title}: ${runsText(of)}`}
      windowTitle={`${job?.status ?? ''} ${title}`.trim()}
      actions={
        <>
          <Link target={{ to: 'bulks' }}>All bulk jobs</Link>
          {job?.status === 'running' && <Stop id={id} />}
        </>
      }
    >
      <Panel title="Job">
        <Loaded query={query} rows={4}>
          {found => <Overview job={found} of={expected(get('of'), found)} />}
        </Loaded>
      </Panel>
      {job && job.failed > 0 && job.status !== 'running' && <Again job={job} />}
      {job && <Results job={job} />}
    </Page>
  )
}

/** Returns the job, with the state that the stream sends while it runs. */
function useLiveJob(id: string) {
  const input = { id, limit: 1 }
  const query = useRead('getBulk', input, { keep: false, staleMs: Number.POSITIVE_INFINITY })
  const { data, refetch } = query
  // The runs that it created continue after its end. They are followed from the start, so that no end is missed after the first
  // read.
  const newRuns = Object.entries(data?.newRuns ?? {})
  const hasLive = newRuns.some(([status, count]) => count > 0 && LIVE.includes(status))
  // The stream may end the job before a read has the statuses of all runs that it created.
  const known = newRuns.reduce((sum, [, count]) => sum + count, 0)
  const changes = data?.newRuns !== undefined && (data.status === 'running' || hasLive || known < data.done)
  const read = () => refetch({ throwOnError: true })
  const renewal = useRenewal(read, { afterMs: RENEWAL_MS, enabled: data === undefined || changes })
  useTopic(data?.status === 'running' ? `bulk:${id}` : undefined, {
    onBatch: ({ frames }) => {
      const state = frames.at(-1) as Partial<BulkDetail> | undefined
      queryClient.setQueryData<BulkDetail>(keyOf('getBulk', input), job => job && mergeState(job, state))
      // A frame does not have the runs that the job created.
      if (state?.status !== undefined && state.status !== 'running') renewal.wake(0)
    },
    // The stream sends the state at first: read only the changes that a pause held back.
    onGap: renewal.catchUp,
  })
  // The stream may begin after the first read. One more read shows the runs that ended between the two.
  useEffect(() => {
    if (changes) renewal.wake(RENEWAL_MS)
  }, [changes, renewal])
  return query
}

/** Statuses of runs that have not ended. */
const LIVE = ['queued', 'running', 'waiting', 'paused']
/** Delay from a change of a run to the next read of the job. */
const RENEWAL_MS = 2000

/** Merges a newer state into the job. A job that has ended stays ended, and counts never fall: an older state may arrive late. */
function mergeState(job: BulkDetail, state: Partial<BulkDetail> | undefined): BulkDetail {
  if (job.status !== 'running' || state === undefined || reachedOf(state) < reachedOf(job)) return job
  return { ...job, ...state }
}

/** Returns the number of runs that the job must process: counted when it began, or before that, as the URL says. */
function expected(of: string | undefined, job: BulkDetail): number | undefined {
  const { matched, status } = job
  if (status === 'done') return matched
  const isCounted = /^\d{1,9}$/.test(of ?? '')
  return isCounted || matched > reachedOf(job) ? Math.max(isCounted ? Number(of) : 0, matched) : undefined
}

function Overview({ job, of }: { job: BulkDetail; of: number | undefined }) {
  const { status, filter, done, skipped, failed } = job
  const reached = reachedOf(job)
  const looked = of === undefined ? `${runsText(reached)} processed` : `${grouped(reached)} of ${runsText(of)}`
  const counts = `${looked}: ${grouped(done)} done, ${grouped(skipped)} skipped, ${grouped(failed)} failed`
  return (
    <div className={css.job}>
      <Polite className={css.progress} text={`${status}, ${counts}`}>
        <JobStatus status={status} />
        {of !== undefined && <progress max={of || 1} value={of === 0 ? 1 : reached} aria-label="Progress" />}
        <span>{counts}</span>
      </Polite>
      <p>{ACTIONS[job.action].sentence}</p>
      <Facts
        facts={[
          ['Runs', <JobRuns key="runs" filter={filter} />],
          ['Actor', job.actor === undefined ? undefined : <Visible key="by" text={cutText(job.actor, 128)} />],
          ['Started', <Moment key="started" at={job.createdAt} />],
          ['Ended', job.finishedAt === undefined ? undefined : <Moment key="ended" at={job.finishedAt} />],
          ['New runs', job.newRuns && done > 0 && <NewRuns key="new" job={job} />],
          ['Audit', <AuditLink key="audit" job={job} />],
          ['ID', <code key="id">{job.id}</code>],
        ]}
      />
    </div>
  )
}

/** The runs that the job created, by their current status, each count a link to them. */
function NewRuns({ job: { id, newRuns = {} } }: { job: BulkDetail }) {
  const counts = Object.entries(newRuns as Record<string, number>).filter(([, count]) => count > 0)
  return (
    <span className={css.newRuns}>
      {counts.map(([status, count]) => (
        // The filter `running` also finds runs that wait.
        <Link key={status} target={{ to: 'runs', query: { bulk: id, status } }}>
          <Status status={status as Item<'listRuns'>['status']} /> {grouped(count)}
        </Link>
      ))}
      <Link target={{ to: 'runs', query: { bulk: id } }}>all</Link>
    </span>
  )
}

/** The filter, as a link to the runs that now match it. */
function JobRuns({ filter }: Pick<BulkDetail, 'filter'>) {
  const query = runsQuery(filter)
  const text = <Visible text={filterText(filter)} />
  return query ? <Link target={{ to: 'runs', query }}>{text}</Link> : text
}

/** The entries of the audit log for this kind of job, from its start. */
function AuditLink({ job: { action, createdAt } }: { job: BulkDetail }) {
  return <Link target={{ to: 'audit', query: { action: `bulk.${action}`, since: createdAt } }}>bulk.{action}</Link>
}

function Stop({ id }: { id: string }) {
  const stop = useWrite('stopBulk', ['getBulk', 'listBulks'])
  return (
    <ConfirmButton
      label="Stop…"
      title="Stop this job?"
      action="Stop job"
      call={{ id: 'stopBulk', input: { id } }}
      onConfirm={() => stop.mutate({ id }, { onError: toastError })}
    >
      <p>Remaining runs are not changed. Completed changes are not undone.</p>
    </ConfirmButton>
  )
}
