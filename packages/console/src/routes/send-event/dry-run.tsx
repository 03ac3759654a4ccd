// The effect that an event would have on the engine now: each workflow with its trigger, the verdict of its filter and its
// policies, and for a name that no workflow knows, the nearest known one.

import type { DryRunReply } from '@perdure/protocol'
import { matchText } from '@perdure/protocol/portable'
import { useQuery as useCached } from '@tanstack/react-query'
import { useRead } from '../../data/queries.ts'
import { Link } from '../../router/router.tsx'
import { readClient, useSession } from '../../session/session.ts'
import { Polite } from '../../ui/overlay/polite.tsx'
import { Loaded } from '../../ui/states/loaded.tsx'
import { nearest } from './nearest.ts'
import css from './send-event.module.css'

type Verdict = DryRunReply['workflows'][number]

export interface DryRunProps {
  body: Record<string, unknown> | undefined
  name: string
  /** Uses the name that was probably meant. */
  onName(name: string): void
}

export function DryRun({ body, name, onName }: DryRunProps) {
  const { namespace } = useSession()
  const query = useCached({
    queryKey: [namespace, 'dryRun', JSON.stringify(body)],
    queryFn: async ({ signal }) =>
      (await readClient().sendEvent({ body: body as never, dryRun: true }, { signal })) as unknown as DryRunReply,
    enabled: body !== undefined,
    staleTime: 0,
  })
  if (body === undefined)
    return <p className="mute">Type a name and JSON data: nothing is sent until you press Send.</p>
  return (
    <Loaded query={query}>
      {reply => (
        <>
          <Polite className="visually-hidden" text={summaryOf(reply)} />
          <div className={css.form}>
            {reply.deduped && <p>No effect: an event with this deduplication ID exists already.</p>}
            {reply.suspended && <p>No runs would start: the namespace is suspended.</p>}
            {reply.workflows.length === 0 && (
              <NoTrigger name={name} isAwaited={reply.waiters > 0 || reply.waited !== undefined} onName={onName} />
            )}
            {reply.workflows.map(verdict => (
              <WorkflowVerdict key={`${verdict.app}/${verdict.workflow}`} verdict={verdict} />
            ))}
            <p className="mute">{wakesOf(reply)}</p>
            <Woken reply={reply} />
            {reply.warnings?.map(warning => (
              <p key={warning} className={css.problem}>
                {warning}
              </p>
            ))}
          </div>
        </>
      )}
    </Loaded>
  )
}

/** Returns a short spoken form of an answer that may be long. */
function summaryOf({ deduped, suspended, workflows }: DryRunReply): string {
  if (deduped || suspended) return 'No runs would start'
  const matching = workflows.filter(({ matches }) => matches).length
  return `Matching workflows: ${matching}`
}

function wakesOf({ waiters, waited }: DryRunReply): string {
  if (waited === undefined)
    return waiters === 0
      ? 'No runs are waiting for it.'
      : `It would resume ${waiters} waiting ${waiters === 1 ? 'run' : 'runs'}.`
  const unmet = 'the condition of the wait is false for this data'
  if (waiters > 0)
    return `It would resume ${waiters} of the ${waited} runs waiting for this name; for the others, ${unmet}.`
  if (waited === 1) return `The run waiting for this name would not resume: ${unmet}.`
  return `None of the ${waited} runs waiting for this name would resume: ${unmet}.`
}

/** The runs that would wake, each with a link. */
function Woken({ reply: { wakes = [], waiters } }: { reply: DryRunReply }) {
  if (wakes.length === 0) return null
  return (
    <ul className={css.woken} aria-label="Runs that would resume">
      {wakes.map(id => (
        <li key={id}>
          <Link target={{ to: 'run', params: { id } }}>{id}</Link>
        </li>
      ))}
      {waiters > wakes.length && <li>and {waiters - wakes.length} more</li>}
    </ul>
  )
}

/** Suggests no other name if runs wait for this one. */
function NoTrigger({ name, isAwaited, onName }: Pick<DryRunProps, 'name' | 'onName'> & { isAwaited: boolean }) {
  const workflows = useRead('listWorkflows', {}, { staleMs: 30_000 }).data ?? []
  const names = workflows.flatMap(({ triggers }) => triggers.flatMap(({ event }) => event ?? []))
  const guess = isAwaited ? undefined : nearest(name, names)
  return (
    <p>
      No workflow has a trigger for <strong>{name}</strong>
      {guess === undefined ? '.' : ': did you mean '}
      {guess !== undefined && (
        <button type="button" className={css.guess} onClick={() => onName(guess)}>
          {guess}
        </button>
      )}
      {guess !== undefined && '?'}
    </p>
  )
}

const OUTCOMES: Record<NonNullable<Verdict['outcome']>, string> = {
  run: 'starts a run',
  delivered: 'no run: delivered to the live singleton run',
  deduped: 'no run: idempotency key already used',
  dropped: 'no run: dropped by a rate limit',
  skipped: 'no run: a singleton run is active',
  debounced: 'joins a debounce that becomes one run',
  batched: 'joins a batch that becomes one run',
}

function WorkflowVerdict({ verdict }: { verdict: Verdict }) {
  const { workflow, app, trigger, matches, reason, outcome, cancels = [], policies } = verdict
  const keys = Object.entries(policies ?? {}).flatMap(([policy, states]) =>
    [states].flat().flatMap(state => {
      const { key, error, value } = state as { key?: string; error?: string; value?: number }
      const shown = error ?? key ?? value
      return shown === undefined || shown === '' ? [] : [`${policy} ${shown}`]
    }),
  )
  return (
    <section className={css.verdict} data-matches={matches || undefined}>
      <h3>
        <span aria-hidden="true">{matches ? '✓' : '✕'}</span> {workflow} <span className="mute">{app}</span>
      </h3>
      <p>{matches ? (outcome === undefined ? 'matches' : OUTCOMES[outcome]) : (reason ?? 'filter is false')}</p>
      {trigger.match !== undefined && <code>{matchText(trigger.match)}</code>}
      {trigger.if !== undefined && <code>{trigger.if}</code>}
      {keys.length > 0 && <p className="mute">{keys.join(' · ')}</p>}
      {cancels.length > 0 && (
        <p>
          Cancels {cancels.length === 1 ? 'run' : `${cancels.length} runs:`} {cancels.slice(0, 3).join(', ')}.
        </p>
      )}
    </section>
  )
}
