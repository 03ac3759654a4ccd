// The data of a run: its input, its result or error, and the event that started it.

import { sourceOf } from '../../../data/json/parse.ts'
import { useRead } from '../../../data/queries.ts'
import { Link } from '../../../router/router.tsx'
import { JsonTree } from '../../../ui/json/json-tree.tsx'
import { Panel } from '../../../ui/states/page.tsx'
import { ErrorText } from '../model/error-text.tsx'
import type { RunView } from '../model/use-run.ts'
import css from './tabs.module.css'

export function IoTab({ view }: { view: RunView }) {
  const { run } = view
  return (
    <div className={css.columns}>
      <Panel title="Input">
        {run.input === undefined ? (
          <p className={css.none}>The run has no input.</p>
        ) : (
          <JsonTree text={sourceOf(run.input)} label="the input" />
        )}
      </Panel>
      <Panel title={run.error ? 'Error' : 'Result'}>
        {run.error ? (
          <ErrorText error={run.error} />
        ) : run.result === undefined ? (
          <p className={css.none}>{view.isLive ? 'The run has not ended.' : 'The run has no result.'}</p>
        ) : (
          <JsonTree text={sourceOf(run.result)} label="the result" />
        )}
      </Panel>
      {run.eventId !== undefined && !view.isBundle && <TriggerEvent id={run.eventId} />}
    </div>
  )
}

function TriggerEvent({ id }: { id: string }) {
  const { data, error } = useRead('getEvent', { id }, { keep: false })
  return (
    <Panel title="Trigger event">
      <p>
        <Link target={{ to: 'event', params: { id } }}>{id}</Link>
      </p>
      {error && <p className={css.none}>The event is no longer stored.</p>}
      {data && <JsonTree text={sourceOf(data)} label="the event" />}
    </Panel>
  )
}
