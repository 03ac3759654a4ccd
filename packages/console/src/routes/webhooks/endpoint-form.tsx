// The dialog that makes an endpoint.

import type { Calls } from '@perdure/client'
import { useId, useState } from 'react'
import { useWrite } from '../../data/write.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { Field, FieldForm } from './parts/fields.tsx'
import { KeyedButton } from './parts/keyed.tsx'
import { hasSecret, type NewSecret } from './parts/secrets.tsx'

type Kind = Calls['listWebhookEndpoints']['reply'][number]['eventKinds'][number]

const KINDS: readonly Kind[] = ['run.succeeded', 'run.failed', 'run.cancelled', 'step.failed']

export function NewEndpoint({ onSecret, onClose }: { onSecret(made: NewSecret): void; onClose(): void }) {
  const form = useId()
  const [url, setUrl] = useState('')
  const [app, setApp] = useState('')
  const [kinds, setKinds] = useState<readonly Kind[]>(['run.failed'])
  const create = useWrite('createWebhookEndpoint', ['listWebhookEndpoints'])
  const input = { body: { url, eventKinds: [...kinds], ...(app === '' ? {} : { app }) } }
  const make = () =>
    create.mutate(input, {
      onSuccess: made => {
        if (hasSecret(made)) onSecret(made)
        onClose()
      },
    })
  return (
    <Dialog
      title="New endpoint"
      onClose={onClose}
      call={{ id: 'createWebhookEndpoint', input }}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <KeyedButton kind="primary" type="submit" form={form}>
            Create
          </KeyedButton>
        </>
      }
    >
      <FieldForm id={form} error={create.error} names={['url', 'app', 'eventKinds']} onSubmit={make}>
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
                  onChange={event => setUrl(event.target.value)}
                />
              )}
            </Field>
            <Field label="App (optional)" error={errorOf('app')}>
              {control => <input {...control} value={app} onChange={event => setApp(event.target.value)} />}
            </Field>
            <fieldset>
              <legend>Events</legend>
              {KINDS.map(kind => (
                <label key={kind}>
                  <input
                    type="checkbox"
                    checked={kinds.includes(kind)}
                    onChange={() => setKinds(KINDS.filter(each => kinds.includes(each) !== (each === kind)))}
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
