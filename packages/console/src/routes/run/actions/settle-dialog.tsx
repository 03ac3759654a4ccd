// Settles an outstanding step by hand: with a result, or with an error, and a reason. Loaded when the dialog opens.

import { lazy, Suspense, useState } from 'react'
import { RawJson } from '../../../data/json/parse.ts'
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
const REASON_CHARS_MAX = 1000
const RENEWED = ['getRun', 'listRunSteps', 'getRunStep', 'explainRun', 'listControlActions', 'listRuns'] as const

export interface SettleDialogProps {
  runId: string
  stepId: string
  stepName: string
  onClose(): void
}

export default function SettleDialog({ runId, stepId, stepName, onClose }: SettleDialogProps) {
  const [data, setData] = useState('null')
  const [message, setMessage] = useState('')
  const [fails, setFails] = useState(false)
  const [reason, setReason] = useState('')
  const fault = useJsonFault(data)
  const write = useWrite('settleStep', RENEWED)
  const end = fails ? { error: { message } } : { data: new RawJson(data) }
  const input = { id: runId, stepId, body: { ...end, reason } }
  const missing = reason.trim() === '' ? 'give a reason' : fails && message.trim() === '' ? 'give a message' : undefined
  const settle = () =>
    write.mutate(input, {
      onSuccess: ({ status }) => {
        toast(`The step has ${status}`)
        onClose()
      },
    })
  return (
    <Dialog
      title={`Settle ${shortName(stepName)}`}
      onClose={onClose}
      close="Cancel"
      actions={
        <WriteButton kind="primary" disabledBecause={missing ?? (fails ? undefined : fault)} onClick={settle}>
          Settle step
        </WriteButton>
      }
    >
      <div className={css.dialog}>
        <p>
          The step ends with this result, and the run continues at once. Anything the step returns later is ignored. You
          cannot reverse this.
        </p>
        <label>
          <input type="checkbox" checked={fails} onChange={event => setFails(event.target.checked)} /> The step fails
        </label>
        {fails ? (
          <label className={css.field}>
            Error message
            <input value={message} onChange={event => setMessage(event.target.value)} />
          </label>
        ) : (
          <Suspense fallback={<Waiting rows={2} />}>
            <JsonEditor text="null" label="Result of the step" onChange={setData} />
          </Suspense>
        )}
        <label className={css.field}>
          Reason
          <input
            data-autofocus=""
            value={reason}
            maxLength={REASON_CHARS_MAX}
            onChange={event => setReason(event.target.value)}
          />
        </label>
        {write.error && <ErrorText error={write.error} isShort />}
        <Commands call={{ id: 'settleStep', input }} />
      </div>
    </Dialog>
  )
}
