// Shows that the definition of a workflow has changed since a run: the definition now, and what the run shows of the one it was
// created under. The engine keeps the newest definition alone.

import { useRead } from '../../../data/queries.ts'
import { localTime } from '../../../ui/time.ts'
import { Visible } from '../../../ui/visible.tsx'
import { definitionWords } from '../../workflows/definition-words.ts'
import type { RunView } from '../model/use-run.ts'
import css from './actions.module.css'
import { type Then, thenWords } from './definition-then.ts'

/** Nothing for a run whose workflow is as it was. */
export function DefinitionNote({ view: { run } }: { view: RunView }) {
  const { data } = useRead('listWorkflows', {})
  const now = data?.find(({ name, app }) => name === run.workflow && app === run.app)
  if (data === undefined) return null
  if (now === undefined)
    return <p className={css.fault}>The workflow is not registered any more: the new run would wait for a runner.</p>
  if (now.updatedAt <= run.createdAt) return null
  return (
    <section className={css.definition} aria-label="The definition, then and now">
      <p>
        The workflow's definition has changed since this run: it was last registered otherwise at{' '}
        {localTime(Date.parse(now.updatedAt))}. The new run goes by today's.
      </p>
      <div className={css.thenAndNow}>
        <Words name="Then" sentences={thenWords(run as Then, now)} />
        <Words name="Now" sentences={definitionWords(now)} />
      </div>
    </section>
  )
}

function Words({ name, sentences }: { name: string; sentences: readonly string[] }) {
  return (
    <div>
      <h3>{name}</h3>
      <ul>
        {sentences.map(sentence => (
          <li key={sentence}>
            <Visible text={sentence} />
          </li>
        ))}
      </ul>
    </div>
  )
}
