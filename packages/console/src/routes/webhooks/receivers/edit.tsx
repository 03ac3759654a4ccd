// The dialog that edits a receiver: the events that it creates. Its URL, its signature and its secret stay.

import type { Calls, Input } from '@perdure/client'
import { useId, useState } from 'react'
import { useWrite } from '../../../data/write.ts'
import { Field, FieldForm } from '../../../ui/fields/fields.tsx'
import { Dialog } from '../../../ui/overlay/dialog.tsx'
import { toast } from '../../../ui/overlay/toasts.tsx'
import { changedOf } from '../parts/changed.ts'
import { KeyedButton } from '../parts/keyed.tsx'

type Receiver = Calls['listWebhookReceivers']['reply'][number]

const FIELDS = [
  ['eventName', 'Event name', undefined],
  ['name', 'Label', undefined],
  ['app', 'Event app', 'The app that the events belong to.'],
  ['targetApp', 'For the app', 'Only triggers of this app; empty: of every app.'],
  ['keepHeaders', 'Stored headers', 'Separated by commas. If there are any, the event data is {headers, body}.'],
] as const
type Values = Record<(typeof FIELDS)[number][0], string>

/** Returns the values in the form of an update. */
const fieldsOf = ({ keepHeaders, ...texts }: Values) => ({
  ...texts,
  keepHeaders: keepHeaders
    .split(',')
    .map(name => name.trim())
    .filter(name => name !== ''),
})

export function EditReceiver({ of: receiver, onClose }: { of: Receiver; onClose(): void }) {
  const form = useId()
  const { id, eventName, name = '', app = '', targetApp = '', keepHeaders = [] } = receiver
  const before: Values = { eventName, name, app, targetApp, keepHeaders: keepHeaders.join(', ') }
  const [values, setValues] = useState(before)
  const update = useWrite('updateWebhookReceiver', ['listWebhookReceivers'])
  const input = { id, body: changedOf(fieldsOf(before), fieldsOf(values)) } as Input<'updateWebhookReceiver'>
  const isSame = Object.keys(input.body).length === 0
  const save = () =>
    update.mutate(input, {
      onSuccess: () => {
        toast('Receiver saved')
        onClose()
      },
    })
  return (
    <Dialog
      title="Edit receiver"
      onClose={onClose}
      call={isSame ? undefined : { id: 'updateWebhookReceiver', input }}
      close="Cancel"
      actions={
        <KeyedButton
          kind="primary"
          type="submit"
          form={form}
          disabledBecause={isSame ? 'nothing is changed' : undefined}
        >
          Save
        </KeyedButton>
      }
    >
      <FieldForm id={form} error={update.error} names={FIELDS.map(([name]) => name)} onSubmit={() => isSame || save()}>
        {errorOf =>
          FIELDS.map(([field, label, hint]) => (
            <Field key={field} label={label} error={errorOf(field)} {...(hint && { hint })}>
              {control => (
                <input
                  {...control}
                  data-autofocus={field === 'eventName' ? '' : undefined}
                  value={values[field]}
                  onChange={({ target }) => setValues({ ...values, [field]: target.value })}
                />
              )}
            </Field>
          ))
        }
      </FieldForm>
    </Dialog>
  )
}
