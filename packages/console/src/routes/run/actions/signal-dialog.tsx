// Sends a signal or an update to the run, and lists the ones that no step has taken. Loaded when the dialog opens.

import { lazy, Suspense, useState } from 'react'
import { RawJson } from '../../../data/json/parse.ts'
import { useRead } from '../../../data/queries.ts'
import { useWrite } from '../../../data/write.ts'
import { WriteButton } from '../../../ui/button.tsx'
import { useJsonFault } from '../../../ui/json/use-json-text.ts'
import { Commands } from '../../../ui/overlay/commands.tsx'
import { Dialog } from '../../../ui/overlay/dialog.tsx'
import { toast } from '../../../ui/overlay/toasts.tsx'
import { Waiting } from '../../../ui/states/loaded.tsx'
import { shortName } from '../../../ui/visible-text.ts'
import { ErrorText } from '../model/error-text.tsx'
import css from './actions.module.css'

const JsonEditor = lazy(() => import('../../../ui/editor/json-editor.tsx'))
const NAME = /^[A-Za-z0-9_.:/-]{1,128}$/
const ANSWER_WAIT_MS = 20_000
const RENEWED = ['getRun', 'listRunSteps', 'explainRun', 'listRunSignals', 'listEvents'] as const

export interface SignalDialogProps {
  runId: string
  /** The signal that the run waits for. */
  awaited: string | undefined
  onClose(): void
}

export default function SignalDialog({ runId, awaited = '', onClose }: SignalDialogProps) {
  const [name, setName] = useState(awaited)
  const [data, setData] = useState('null')
  const [asks, setAsks] = useState(false)
  const fault = useJsonFault(data)
  const signal = useWrite('signalRun', RENEWED)
  const update = useWrite('updateRun', RENEWED)
  const input = { id: runId, name, body: { data: new RawJson(data) } }
  const asked = { ...input, wait: ANSWER_WAIT_MS }
  const wrongName = NAME.test(name) ? undefined : 'give a name of 1 to 128 letters, digits, _ . : / or -'
  const send = () => {
    if (!asks)
      return signal.mutate(input, {
        onSuccess: ({ woke }) => {
          toast(woke > 0 ? 'The run received the signal' : 'The signal is waiting for the run')
          onClose()
        },
      })
    update.mutate(asked, {
      onSuccess: answer => toast('reply' in answer ? 'The run has answered' : 'The run has not answered yet'),
    })
  }
  const { error } = asks ? update : signal
  return (
    <Dialog
      title="Send a signal"
      onClose={onClose}
      close="Close"
      actions={
        <WriteButton kind="primary" disabledBecause={wrongName ?? fault} onClick={send}>
          {asks ? 'Send update' : 'Send signal'}
        </WriteButton>
      }
    >
      <div className={css.dialog}>
        <p>A step that waits for a signal of this name takes it. It is kept until one does.</p>
        <WaitingSignals runId={runId} />
        <label className={css.field}>
          Name
          <input data-autofocus="" value={name} onChange={event => setName(event.target.value)} />
        </label>
        <Suspense fallback={<Waiting rows={2} />}>
          <JsonEditor text="null" label="Data" onChange={setData} />
        </Suspense>
        <label>
          <input type="checkbox" checked={asks} onChange={event => setAsks(event.target.checked)} /> Wait for an answer
          (an update)
        </label>
        {asks && update.data && 'reply' in update.data && (
          <p>
            Answer: <code>{JSON.stringify(update.data.reply)}</code>
          </p>
        )}
        {error && <ErrorText error={error} isShort />}
        {asks ? <Commands call={{ id: 'updateRun', input: asked }} /> : <Commands call={{ id: 'signalRun', input }} />}
      </div>
    </Dialog>
  )
}

function WaitingSignals({ runId }: { runId: string }) {
  const { data } = useRead('listRunSignals', { id: runId }, { keep: false })
  if (!data || data.signals.length === 0) return null
  const names = data.signals.map(({ eventId, name, kind }) => (
    <li key={eventId}>
      {kind} {shortName(name)}
    </li>
  ))
  return (
    <div>
      No step has taken these yet:
      <ul>{names}</ul>
      {data.more && 'and more'}
    </div>
  )
}
