// Saves the runs of the list as a file through the browser: CSV, or one JSON object per line.

import type { Input } from '@perdure/client'
import { useEffect, useRef, useState } from 'react'
import { Button } from '../../../ui/button.tsx'
import form from '../../../ui/fields/form.module.css'
import { Dialog } from '../../../ui/overlay/dialog.tsx'
import { Polite } from '../../../ui/overlay/polite.tsx'
import { ErrorBanner } from '../../../ui/states/loaded.tsx'
import { saveText } from '../../run/tabs/save.ts'
import { grouped, runsText } from '../bulk/actions.ts'
import type { Format } from './csv.ts'
import { EXPORT_MAX, type Exported, readAll } from './read-all.ts'

const FORMATS: Readonly<Record<Format, { label: string; file: string; type: string }>> = {
  csv: { label: 'CSV, for a spreadsheet', file: 'runs.csv', type: 'text/csv' },
  ndjson: { label: 'JSON, one object per line', file: 'runs.ndjson', type: 'application/x-ndjson' },
}

type State =
  | { at: 'idle' }
  | { at: 'reading'; count: number }
  | { at: 'done'; found: Exported }
  | { at: 'failed'; error: Error }

export default function ExportDialog({ input, onClose }: { input: Input<'listRuns'>; onClose(): void }) {
  const [format, setFormat] = useState<Format>('csv')
  const [state, setState] = useState<State>({ at: 'idle' })
  const stop = useRef<'with-file' | 'without'>(undefined)
  useEffect(
    () => () => {
      stop.current = 'without'
    },
    [],
  )
  const save = async () => {
    stop.current = undefined
    setState({ at: 'reading', count: 0 })
    try {
      const onPage = (count: number) => {
        setState({ at: 'reading', count })
        return stop.current === undefined
      }
      const found = await readAll(input, { format, onPage })
      if (stop.current === 'without') return
      const { file, type } = FORMATS[format]
      saveText({ name: file, type, parts: found.parts })
      setState({ at: 'done', found })
    } catch (error) {
      setState({ at: 'failed', error: error as Error })
    }
  }
  const stopReading = () => {
    stop.current = 'with-file'
  }
  const isReading = state.at === 'reading'
  return (
    <Dialog
      title="Export runs"
      onClose={onClose}
      call={{ id: 'listRuns', input }}
      close="Close"
      actions={
        isReading ? (
          <Button onClick={stopReading}>Stop and save</Button>
        ) : (
          <Button kind="primary" data-autofocus="" onClick={() => void save()}>
            Save {FORMATS[format].file}
          </Button>
        )
      }
    >
      <p>All matching runs in list order, at most {grouped(EXPORT_MAX)}, without inputs and results.</p>
      <div className={form.form}>
        <fieldset disabled={isReading}>
          <legend>Format</legend>
          {(Object.keys(FORMATS) as Format[]).map(each => (
            <label key={each}>
              <input type="radio" name="format" checked={each === format} onChange={() => setFormat(each)} />
              {FORMATS[each].label}
            </label>
          ))}
        </fieldset>
      </div>
      <p>
        <Polite text={textOf(state)} />
      </p>
      {state.at === 'failed' && <ErrorBanner error={state.error} />}
    </Dialog>
  )
}

function textOf(state: State): string {
  if (state.at === 'reading') return `${runsText(state.count)} so far…`
  if (state.at !== 'done') return ''
  const { count, isCut } = state.found
  return `${runsText(count)} saved${isCut ? '; more match: narrow the filters to export the rest' : ''}.`
}
