// The reason for a run's state: the engine's sentence, with the one action that would end the wait.

import type { RunExplanation } from '@perdure/protocol'
import { cutText } from '@perdure/protocol/portable'
import { Fragment } from 'react'
import { useNow } from '../../data/time/clock.ts'
import { Link, type Target } from '../../router/router.tsx'
import { Button, WriteButton } from '../../ui/button.tsx'
import { durationText } from '../../ui/duration.ts'
import { colourOf } from '../../ui/status.tsx'
import { Visible } from '../../ui/visible.tsx'
import type { OpenAction } from './actions/actions.tsx'
import type { RunView } from './model/use-run.ts'
import { howToRaise, sentenceParts, whyAction } from './why.ts'
import css from './why-view.module.css'

/** Maximum length shown of a name or a message: the error has its own place. */
const OTHERS_CHARS_MAX = 300

export interface WhyViewProps {
  view: RunView
  onAction(action: OpenAction): void
  onStep(stepName: string): void
}

export function WhyView({ view, onAction, onStep }: WhyViewProps) {
  const now = useNow()
  const { why, run } = view
  if (!why) return null
  const how = howToRaise(why)
  return (
    <div className={css.why} style={{ borderInlineStartColor: `var(--${colourOf(run.status)})` }}>
      <span className={css.sentence}>
        {sentenceParts(why, now).map(({ text, isOfOthers }, i) => {
          const Part = isOfOthers ? 'bdi' : Fragment
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: a part has no name of its own.
            <Part key={i}>
              <Visible text={isOfOthers ? cutText(text, OTHERS_CHARS_MAX, '…') : text} />
            </Part>
          )
        })}
      </span>
      <ActionView why={why} run={run} onAction={onAction} onStep={onStep} />
      {why.waitingFor?.kind === 'event' && run.status === 'waiting' && (
        <Link target={{ to: 'events', query: { name: why.event?.name } }}>Events with that name</Link>
      )}
      {why.passSince !== undefined && <Link target={{ to: 'runners', query: { app: run.app } }}>Runners</Link>}
      {how !== undefined && (
        <details className={css.how}>
          <summary>How to raise the limit</summary>
          <p>{how}</p>
        </details>
      )}
      {why.warnings?.map(text => (
        <p key={text} className={css.warning}>
          {text}
        </p>
      ))}
      <BlockedBy view={view} />
    </div>
  )
}

interface ActionViewProps extends Omit<WhyViewProps, 'view'> {
  why: RunExplanation
  run: RunView['run']
}

/** The words of the link to another run. */
const OPENED = { child: 'Open child', awaited: 'Open awaited run', budget: 'Open run with budget' }

function ActionView({ why, run, onAction, onStep }: ActionViewProps) {
  const { id, app, workflow } = run
  const action = whyAction(why)
  switch (action?.kind) {
    case 'send-event':
      return linkTo({ to: 'sendEvent', query: { wait: id } }, `Send ${cutText(action.name, 80)}…`)
    case 'open-run':
      return linkTo({ to: 'run', params: { id: action.runId } }, OPENED[action.what])
    case 'runners':
      return linkTo({ to: 'runners', query: { app } }, 'Show runners')
    case 'limits':
      return linkTo({ to: 'limits', query: { workflow } }, 'Show limit')
    case 'workflow':
      return linkTo({ to: 'workflow', params: { app, name: workflow } }, 'Open the workflow to resume it')
    case 'resume':
      return <WriteButton onClick={() => onAction('resume')}>Resume…</WriteButton>
    case 'retry-from':
      return (
        <WriteButton startsRuns onClick={() => onAction({ retry: action.stepName })}>
          Retry from there…
        </WriteButton>
      )
    case 'show-step':
      return <Button onClick={() => onStep(action.stepName)}>Show error</Button>
    case undefined:
      return null
  }
}

function linkTo(target: Target, text: string) {
  return (
    <Link className={css.action} target={target}>
      {text}
    </Link>
  )
}

/** The runs that hold the slots this run waits for. */
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
