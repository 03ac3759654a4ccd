// The dialog that creates or edits an endpoint.

import type { Calls, Input } from '@perdure/client'
import { useId, useState } from 'react'
import type { Call } from '../../data/commands/request.ts'
import { useWrite } from '../../data/write.ts'
import { Field, FieldForm } from '../../ui/fields/fields.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import { changedOf } from './parts/changed.ts'
import { KeyedButton } from './parts/keyed.tsx'
import { hasSecret, type NewSecret } from './parts/secrets.tsx'

export type Endpoint = Calls['listWebhookEndpoints']['reply'][number]
type Kind = Endpoint['eventKinds'][number]

const KINDS: readonly Kind[] = ['run.succeeded', 'run.failed', 'run.cancelled', 'step.failed']

/** The texts of the form's fields. */
interface Values {
  url: string
  name: string
  app: string
  eventKinds: readonly Kind[]
}

export function NewEndpoint({ onSecret, onClose }: { onSecret(made: NewSecret): void; onClose(): void }) {
  const [values, setValues] = useState<Values>({ url: '', name: '', app: '', eventKinds: ['run.failed'] })
  const create = useWrite('createWebhookEndpoint', ['listWebhookEndpoints'])
  const { url, name, app, eventKinds } = values
  const optional = { ...(app === '' ? {} : { app }), ...(name === '' ? {} : { name }) }
  const input = { body: { url, eventKinds: [...eventKinds], ...optional } }
  const make = () =>
    create.mutate(input, {
      onSuccess: made => {
        if (hasSecret(made)) onSecret(made)
        onClose()
      },
    })
  return (
    <EndpointDialog
      title="New endpoint"
      action="Create"
      call={{ id: 'createWebhookEndpoint', input }}
      error={create.error}
      values={values}
      onChange={change => setValues({ ...values, ...change })}
      onSubmit={make}
      onClose={onClose}
    />
  )
}

/** Edits which deliveries the endpoint gets, and where. Its secret stays. */
export function EditEndpoint({ of: endpoint, onClose }: { of: Endpoint; onClose(): void }) {
  const { id, url, name = '', app = '', eventKinds } = endpoint
  const before: Values = { url, name, app, eventKinds }
  const [values, setValues] = useState(before)
  const update = useWrite('updateWebhookEndpoint', ['listWebhookEndpoints'])
  const input = { id, body: changedOf(before, values) } as Input<'updateWebhookEndpoint'>
  const isSame = Object.keys(input.body).length === 0
  const save = () =>
    update.mutate(input, {
      onSuccess: () => {
        toast('Endpoint saved')
        onClose()
      },
    })
  return (
    <EndpointDialog
      title="Edit endpoint"
      action="Save"
      call={isSame ? undefined : { id: 'updateWebhookEndpoint', input }}
      disabledBecause={isSame ? 'nothing is changed' : undefined}
      error={update.error}
      values={values}
      onChange={change => setValues({ ...values, ...change })}
      onSubmit={() => isSame || save()}
      onClose={onClose}
    />
  )
}

interface EndpointDialogProps {
  title: string
  action: string
  call: Call | undefined
  disabledBecause?: string | undefined
  error: Error | null
  values: Values
  onChange(change: Partial<Values>): void
  onSubmit(): void
  onClose(): void
}

function EndpointDialog(props: EndpointDialogProps) {
  const { title, action, call, disabledBecause, error, values, onChange, onSubmit, onClose } = props
  const form = useId()
  const { url, name, app, eventKinds } = values
  return (
    <Dialog
      title={title}
      onClose={onClose}
      call={call}
      close="Cancel"
      actions={
        <KeyedButton kind="primary" type="submit" form={form} disabledBecause={disabledBecause}>
          {action}
        </KeyedButton>
      }
    >
      <FieldForm id={form} error={error} names={['url', 'name', 'app', 'eventKinds']} onSubmit={onSubmit}>
        {errorOf => (
          <>
            <Field label="URL" error={errorOf('url')}>
              {control => (
                <input
                  {...control}
                  data-autofocus=""
                  type="url"
                  value={url}
                  placeholder="https://example.com/hook"
                  onChange={({ target }) => onChange({ url: target.value })}
                />
              )}
            </Field>
            <Field label="Label (optional)" error={errorOf('name')}>
              {control => (
                <input {...control} value={name} onChange={({ target }) => onChange({ name: target.value })} />
              )}
            </Field>
            <Field label="App (optional)" hint="Only runs of this app; empty: of every app." error={errorOf('app')}>
              {control => <input {...control} value={app} onChange={({ target }) => onChange({ app: target.value })} />}
            </Field>
            <fieldset>
              <legend>Events</legend>
              {KINDS.map(kind => (
                <label key={kind}>
                  <input
                    type="checkbox"
                    checked={eventKinds.includes(kind)}
                    onChange={() =>
                      onChange({ eventKinds: KINDS.filter(each => eventKinds.includes(each) !== (each === kind)) })
                    }
                  />
                  {kind}
                </label>
              ))}
              {errorOf('eventKinds') !== undefined && <p role="alert">{errorOf('eventKinds')}</p>}
            </fieldset>
          </>
        )}
      </FieldForm>
    </Dialog>
  )
}
