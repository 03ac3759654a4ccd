// The why line of a run: the sentence, with the one action that would end the wait.

import { cutText } from '@perdure/protocol/portable'
import { Fragment } from 'react'
import { useNow } from '../../data/time/clock.ts'
import { Link } from '../../router/router.tsx'
import { Button, WriteButton } from '../../ui/button.tsx'
import { durationText } from '../../ui/duration.ts'
import { Visible } from '../../ui/visible.tsx'
import type { OpenAction } from './actions/actions.tsx'
import { isolatedParts } from './model/isolate.ts'
import type { RunView } from './model/use-run.ts'
import { type WhyAction, type WhyLink, whyLine } from './why-text.ts'
import css from './why-view.module.css'

export interface WhyViewProps {
  view: RunView
  onAction(action: OpenAction): void
  onStep(stepName: string): void
}

export function WhyView({ view, onAction, onStep }: WhyViewProps) {
  const now = useNow()
  if (!view.why) return null
  // A step has this status only if its runner reported it.
  const currentStepName = view.steps.findLast(({ status }) => status === 'running')?.name
  const { sentence, action, link, how, said } = whyLine({ ...view.run, currentStepName }, view.why, now)
  return (
    <div className={css.why} data-status={view.run.status}>
      <span className={css.sentence}>
        {isolatedParts(sentence, said).map(({ text, isOfOthers }, i) => {
          const Part = isOfOthers ? 'bdi' : Fragment
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: a part has no name of its own.
            <Part key={i}>
              <Visible text={text} />
            </Part>
          )
        })}
      </span>
      {action && <ActionView action={action} runId={view.run.id} onAction={onAction} onStep={onStep} />}
      {link && <LinkView link={link} />}
      {how !== undefined && (
        <details className={css.how}>
          <summary>Raise the limit: how</summary>
          <p>{how}</p>
        </details>
      )}
      {view.why.warnings?.map(text => (
        <p key={text} className={css.warning}>
          {text}
        </p>
      ))}
      <BlockedBy view={view} />
    </div>
  )
}

function LinkView({ link }: { link: WhyLink }) {
  return link.kind === 'events' ? (
    <Link target={{ to: 'events', query: { name: link.name } }}>Events of that name</Link>
  ) : (
    <Link target={{ to: 'runners', query: { app: link.app } }}>Its runners</Link>
  )
}

interface ActionViewProps extends Omit<WhyViewProps, 'view'> {
  action: WhyAction
  runId: string
}

function ActionView({ action, runId, onAction, onStep }: ActionViewProps) {
  switch (action.kind) {
    case 'send-event':
      return (
        <Link className={css.action} target={{ to: 'sendEvent', query: { wait: runId } }}>
          Send {cutText(action.name, 80)}…
        </Link>
      )
    case 'open-run':
      return (
        <Link className={css.action} target={{ to: 'run', params: { id: action.runId } }}>
          {action.label}
        </Link>
      )
    case 'runners':
      return (
        <Link className={css.action} target={{ to: 'runners', query: { app: action.app } }}>
          Show its runners
        </Link>
      )
    case 'limits':
      return (
        <Link className={css.action} target={{ to: 'limits', query: { workflow: action.workflow } }}>
          Show the limit
        </Link>
      )
    case 'workflow':
      return (
        <Link className={css.action} target={{ to: 'workflow', params: { app: action.app, name: action.workflow } }}>
          Open the workflow to resume it
        </Link>
      )
    case 'resume':
      return <WriteButton onClick={() => onAction('resume')}>Resume…</WriteButton>
    case 'retry-from':
      return (
        <WriteButton startsRuns onClick={() => onAction({ retry: action.stepName })}>
          Retry from there…
        </WriteButton>
      )
    case 'show-step':
      return <Button onClick={() => onStep(action.stepName)}>{action.label}</Button>
  }
}

/** The runs that hold the slots that this run waits for. */
function BlockedBy({ view }: { view: RunView }) {
  const now = useNow()
  const holders = view.why?.blockedBy
  if (!holders || holders.length === 0) return null
  return (
    <span className={css.holders}>
      Held by{' '}
      {holders.map(({ runId, since }, i) => (
        <span key={runId}>
          {i > 0 && ', '}
          <Link target={{ to: 'run', params: { id: runId } }}>{runId.slice(-8)}</Link> for{' '}
          {durationText(Math.max(now - Date.parse(since), 0))}
        </span>
      ))}
    </span>
  )
}
