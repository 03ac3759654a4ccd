// The data of the event: a form based on the schema of a workflow that the event would start, or JSON. If several workflows have
// a schema, the user chooses the form. The engine does not validate events, so faults are only warnings.

import { lazy, Suspense, useState } from 'react'
import { useRead } from '../../data/queries.ts'
import css from './send-event.module.css'
import { type TypedWorkflow, typedWorkflows } from './typed-workflows.ts'

const JsonEditor = lazy(() => import('../../ui/editor/json-editor.tsx'))
const DataInput = lazy(() => import('../../ui/form/data-input.tsx'))
const LABEL = 'Event data'

export interface DataFieldProps {
  /** The data that the page was opened with. */
  first: string
  draft: { name: string; app: string; data: string }
  onChange(data: string): void
}

export function DataField({ first, draft, onChange }: DataFieldProps) {
  const workflows = useRead('listWorkflows', {}, { staleMs: 30_000 })
  const typed = typedWorkflows(workflows.data ?? [], draft)
  const [chosen, setChosen] = useState<string>()
  const workflow = typed.length === 1 ? typed[0] : typed.find(({ key }) => key === chosen)
  if (workflows.isLoading) return <pre>{first}</pre>
  return (
    <>
      {typed.length > 1 && <Choice typed={typed} chosen={workflow?.key} onChoose={setChosen} />}
      <div className={css.editor}>
        <Suspense fallback={<pre>{draft.data}</pre>}>
          {workflow === undefined ? (
            <JsonEditor text={draft.data} label={LABEL} onChange={onChange} />
          ) : (
            <DataInput
              key={workflow.key}
              schema={workflow.schema}
              text={draft.data}
              label={LABEL}
              name="data"
              warning={`Workflow ${workflow.name} would refuse this data.`}
              onChange={onChange}
            />
          )}
        </Suspense>
      </div>
    </>
  )
}

interface ChoiceProps {
  typed: readonly TypedWorkflow[]
  chosen: string | undefined
  onChoose(key: string | undefined): void
}

function Choice({ typed, chosen = '', onChoose }: ChoiceProps) {
  return (
    <label>
      Form of the workflow
      <select value={chosen} onChange={event => onChoose(event.target.value || undefined)}>
        <option value="">none: JSON</option>
        {typed.map(({ key, name, app }) => (
          <option key={key} value={key}>
            {name} ({app})
          </option>
        ))}
      </select>
    </label>
  )
}
