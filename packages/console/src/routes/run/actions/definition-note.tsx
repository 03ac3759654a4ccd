// Shows that the definition of a workflow has changed since a run: the definition at the run's creation, today's, and their
// difference. If the engine no longer keeps the former, the run shows a part of it.

import type { PastDefinition } from '@perdure/protocol'
import { itemsOf, usePages, useRead } from '../../../data/queries.ts'
import { DiffView } from '../../../ui/diff/diff-view.tsx'
import { localTime } from '../../../ui/time.ts'
import { Visible } from '../../../ui/visible.tsx'
import { definitionWords } from '../../workflows/definition-words.ts'
import { definitionAt, definitionText } from '../../workflows/past-definitions.ts'
import type { RunView } from '../model/use-run.ts'
import css from './actions.module.css'
import { type Then, thenWords } from './definition-then.ts'

/** The engine's maximum. */
const DEFINITIONS_KEPT = 50

/** Shows nothing for a run whose workflow is unchanged. */
export function DefinitionNote({ view: { run } }: { view: RunView }) {
  const { data } = useRead('listWorkflows', {})
  const now = data?.find(({ name, app }) => name === run.workflow && app === run.app)
  const hasChanged = now !== undefined && now.updatedAt > run.createdAt
  const past = usePages(
    'listDefinitions',
    { app: run.app, name: run.workflow, limit: DEFINITIONS_KEPT },
    { enabled: hasChanged, keep: false },
  )
  if (data === undefined) return null
  if (now === undefined)
    return <p className={css.fault}>The workflow is no longer registered: the new run would wait for a runner.</p>
  if (!hasChanged || (past.data === undefined && past.error === null)) return null
  const definitions = itemsOf(past)
  const [newest] = definitions
  const then = definitionAt(definitions, run.createdAt)
  // It may have changed and changed back.
  if (then && then.hash === newest?.hash) return null
  return (
    <section className={css.definition} aria-label="Compare definitions">
      <p>
        The workflow definition changed after this run, last at {localTime(Date.parse(now.updatedAt))}. The new run uses
        the current one.
      </p>
      <div className={css.thenAndNow}>
        <Words name="Then" sentences={then ? definitionWords(then.definition) : thenWords(run as Then, now)} />
        <Words name="Now" sentences={definitionWords(now)} />
      </div>
      {then && newest && <Difference then={then} now={newest} />}
    </section>
  )
}

function Difference({ then, now }: { then: PastDefinition; now: PastDefinition }) {
  return <DiffView before={definitionText(then)} after={definitionText(now)} label="Definition diff" isPublic />
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
