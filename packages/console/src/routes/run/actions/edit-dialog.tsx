// Replays a run with an edited input. The input is edited as text, so numbers arrive to the last digit, and the difference
// is shown while it is edited. The editor is loaded when the dialog opens.

import { lazy, Suspense, useMemo, useState } from 'react'
import { RawJson, sourceOf } from '../../../data/json/parse.ts'
import { useWrite } from '../../../data/queries.ts'
import { Button, WriteButton } from '../../../ui/button.tsx'
import { DiffView } from '../../../ui/diff/diff-view.tsx'
import { parseJson } from '../../../ui/json/parse.ts'
import { printJson } from '../../../ui/json/print.ts'
import { CommandsView } from '../../../ui/overlay/commands-view.tsx'
import { Dialog } from '../../../ui/overlay/dialog.tsx'
import { Waiting } from '../../../ui/states/loaded.tsx'
import { ErrorText } from '../model/error-text.tsx'
import type { RunView } from '../model/use-run.ts'
import css from './actions.module.css'
import { DefinitionNote } from './definition-note.tsx'
import { ForkDone } from './fork-done.tsx'
import { ForkCount } from './replay-dialog.tsx'

const JsonEditor = lazy(() => import('../../../ui/editor/json-editor.tsx'))

export function EditDialog({ view, onClose }: { view: RunView; onClose(): void }) {
  const { run } = view
  const before = useMemo(() => prettyOf(run.input === undefined ? 'null' : sourceOf(run.input)), [run.input])
  const [text, setText] = useState(before)
  const fault = useMemo(() => faultOf(text), [text])
  const write = useWrite('replayRun', ['listRuns', 'listControlActions'])
  const send = () => write.mutate({ id: run.id, body: { input: new RawJson(text) } })
  return (
    <Dialog
      title="Edit and replay"
      isWide
      onClose={onClose}
      actions={
        write.data ? (
          <Button onClick={onClose}>Close</Button>
        ) : (
          <>
            <Button onClick={onClose}>Keep as it is</Button>
            <WriteButton kind="primary" disabledBecause={fault} onClick={send}>
              {text === before ? 'Replay unchanged' : 'Replay with this input'}
            </WriteButton>
          </>
        )
      }
    >
      <div className={css.dialog}>
        {write.data ? (
          <ForkDone newRunId={write.data.id} onClose={onClose} />
        ) : (
          <>
            <p>
              A new run of “{run.workflow.slice(0, 80)}” starts from the beginning with this input. This run stays as it
              is.
            </p>
            <DefinitionNote view={view} />
            <ForkCount runId={run.id} />
            <Suspense fallback={<Waiting rows={4} />}>
              <JsonEditor text={before} label="Input of the new run" onChange={setText} />
            </Suspense>
            {fault !== undefined && (
              <p role="status" className={css.fault}>
                {fault}
              </p>
            )}
            {text !== before && <DiffView before={before} after={text} label="Changes of the input" />}
            {write.error && <ErrorText error={write.error} isShort />}
            {fault === undefined && (
              <CommandsView
                call={{
                  id: 'replayRun',
                  input: { id: run.id, body: { input: new RawJson(printJson(parseJson(text), false)) } },
                }}
              />
            )}
          </>
        )}
      </div>
    </Dialog>
  )
}

function prettyOf(text: string): string {
  try {
    return printJson(parseJson(text))
  } catch {
    return text
  }
}

function faultOf(text: string): string | undefined {
  try {
    parseJson(text)
    return undefined
  } catch (error) {
    return `This is ${(error as Error).message}`
  }
}
