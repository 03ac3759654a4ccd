// Replays a run with an edited input. The input is edited as text, so numbers keep every digit, and the difference is shown
// during editing. The editor is loaded when the dialog opens; a worker reads a large input.

import { lazy, Suspense, useDeferredValue, useState } from 'react'
import { RawJson, sourceOf } from '../../../data/json/parse.ts'
import { useWrite } from '../../../data/write.ts'
import { DiffView } from '../../../ui/diff/diff-view.tsx'
import { parseJson } from '../../../ui/json/parse.ts'
import { printJson } from '../../../ui/json/print.ts'
import { useJsonFault, usePrettyJson } from '../../../ui/json/use-json-text.ts'
import { LARGE_CHARS } from '../../../ui/json/veil-json.ts'
import { Polite } from '../../../ui/overlay/polite.tsx'
import { Waiting } from '../../../ui/states/loaded.tsx'
import { shortName } from '../../../ui/visible-text.ts'
import type { RunView } from '../model/use-run.ts'
import css from './actions.module.css'
import { DefinitionNote } from './definition-note.tsx'
import { ForkDialog, RENEWED_BY_FORK } from './fork-dialog.tsx'
import { ForkCount } from './replay-dialog.tsx'

const JsonEditor = lazy(() => import('../../../ui/editor/json-editor.tsx'))

export function EditDialog({ view, onClose }: { view: RunView; onClose(): void }) {
  const { run } = view
  const before = usePrettyJson(run.input === undefined ? 'null' : sourceOf(run.input))
  const [edited, setText] = useState<string>()
  const text = edited ?? before ?? ''
  const shown = useDeferredValue(text)
  const found = useJsonFault(text)
  const fault = before === undefined ? 'Loading the input' : found
  const write = useWrite('replayRun', RENEWED_BY_FORK)
  return (
    <ForkDialog
      title="Edit and replay"
      isWide
      write={write}
      action={text === before ? 'Replay unchanged' : 'Replay with this input'}
      disabledBecause={fault}
      call={
        fault === undefined
          ? { id: 'replayRun', input: { id: run.id, body: { input: new RawJson(inOneLine(text)) } } }
          : undefined
      }
      onFork={() => write.mutate({ id: run.id, body: { input: new RawJson(text) } })}
      onClose={onClose}
    >
      <p>
        A new run of “{shortName(run.workflow)}” starts from the beginning with this input. This run is not changed.
      </p>
      <DefinitionNote view={view} />
      <ForkCount runId={run.id} />
      {before === undefined ? (
        <Waiting rows={4} />
      ) : (
        <Suspense fallback={<Waiting rows={4} />}>
          <JsonEditor text={before} label="Input of the new run" onChange={setText} />
        </Suspense>
      )}
      {fault !== undefined && (
        <p className={css.fault}>
          <Polite text={fault} />
        </p>
      )}
      {before !== undefined && shown !== before && <DiffView before={before} after={shown} label="Input changes" />}
    </ForkDialog>
  )
}

/** Returns the text for a command. A large text is cut off there, and stays unformatted. */
function inOneLine(text: string): string {
  return text.length > LARGE_CHARS ? text : printJson(parseJson(text), false)
}
