// Starts a run of a workflow by hand: the input is a form based on its schema, or JSON; a dry run shows the effect before the
// start.

import type { StartPreview } from '@perdure/protocol'
import { lazy, Suspense, useRef, useState } from 'react'
import { RawJson } from '../../data/json/parse.ts'
import { useWrite } from '../../data/write.ts'
import { useNavigate } from '../../router/router.tsx'
import { WriteButton } from '../../ui/button.tsx'
import type { DataInputHandle } from '../../ui/form/data-input.tsx'
import { useJsonFault } from '../../ui/json/use-json-text.ts'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { Polite } from '../../ui/overlay/polite.tsx'
import { Waiting } from '../../ui/states/loaded.tsx'

const JsonEditor = lazy(() => import('../../ui/editor/json-editor.tsx'))
const DataInput = lazy(() => import('../../ui/form/data-input.tsx'))
const FIRST_INPUT = '{}'

export interface RunDialogProps {
  app: string
  name: string
  /** The schema of the input. */
  schema: object | undefined
  onClose(): void
}

export function RunDialog({ app, name, schema, onClose }: RunDialogProps) {
  const [text, setText] = useState(FIRST_INPUT)
  const input = useRef<DataInputHandle>(null)
  const [checked, setChecked] = useState<string>()
  const navigate = useNavigate()
  const dry = useWrite('startRun')
  const start = useWrite('startRun', ['listRuns', 'listLimits'])
  const fault = useJsonFault(text)
  const body = { input: new RawJson(text) }
  const ask = () => dry.mutate({ app, name, body: { ...body, dryRun: true } }, { onSuccess: () => setChecked(text) })
  const check = async () => {
    if ((await input.current?.isReady()) ?? true) ask()
  }
  const run = () =>
    start.mutate({ app, name, body }, { onSuccess: ({ id }) => navigate({ to: 'run', params: { id } }) })
  const failure = start.error ?? dry.error
  return (
    <Dialog
      title={`Run ${name} now`}
      isWide
      call={fault === undefined ? { id: 'startRun', input: { app, name, body } } : undefined}
      onClose={onClose}
      close="Cancel"
      actions={
        <>
          <WriteButton disabledBecause={fault} onClick={() => void check()}>
            Check
          </WriteButton>
          <WriteButton
            kind="primary"
            disabledBecause={fault ?? (checked === text ? undefined : 'check the input first')}
            onClick={run}
          >
            Start
          </WriteButton>
        </>
      }
    >
      <Suspense fallback={<Waiting rows={4} />}>
        {schema === undefined ? (
          <JsonEditor text={FIRST_INPUT} label="Run input" onChange={setText} />
        ) : (
          <DataInput ref={input} schema={schema} text={text} label="Run input" name="input" isNew onChange={setText} />
        )}
      </Suspense>
      <p>
        <Polite
          text={
            fault ??
            failure?.message ??
            (checked === text && dry.data ? previewOf(dry.data as unknown as StartPreview) : '')
          }
        />
      </p>
    </Dialog>
  )
}

/** Returns the sentence about a dry run. */
function previewOf({ paused, policies }: Pick<StartPreview, 'paused' | 'policies'>): string {
  const { concurrency, throttle } = policies
  const held = [...(concurrency?.length ? ['concurrency'] : []), ...(throttle ? ['throttle'] : [])]
  if (paused) return 'A run would be created, and stay queued: the workflow is paused.'
  return held.length === 0 ? 'A run would start.' : `A run would start, or wait for its ${held.join(' and ')}.`
}
