// The dialog that creates a receiver. A secret of the provider is sent only with the call: no command shows it.

import type { Calls } from '@perdure/client'
import { useId, useState } from 'react'
import { useWrite } from '../../../data/write.ts'
import { Field, FieldForm } from '../../../ui/fields/fields.tsx'
import { Dialog } from '../../../ui/overlay/dialog.tsx'
import { KeyedButton } from '../parts/keyed.tsx'

type Scheme = Calls['listWebhookReceivers']['reply'][number]['scheme']
export type NewReceiverReply = Calls['createWebhookReceiver']['reply']

const SCHEMES: readonly Scheme[] = ['standard-webhooks', 'github', 'stripe', 'slack', 'hmac-sha256']
const NAMES = ['eventName', 'scheme', 'slug', 'name', 'app', 'secret'] as const

type Values = Record<(typeof NAMES)[number], string>

/** Returns the fields that are filled in. */
function bodyOf({ eventName, scheme, ...optional }: Values) {
  const given = Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== ''))
  return { eventName, scheme: scheme as Scheme, ...given } as { eventName: string; scheme: Scheme; secret?: string }
}

/** Stands for the provider's secret in the commands. */
const HIDDEN_SECRET = 'SECRET_OF_THE_PROVIDER'

export interface NewReceiverProps {
  /** `isGiven`: the secret is the provider's, so the caller already has it. */
  onMade(made: NewReceiverReply, isGiven: boolean): void
  onClose(): void
}

export function NewReceiver({ onMade, onClose }: NewReceiverProps) {
  const form = useId()
  const [values, setValues] = useState<Values>({
    ...{ eventName: '', scheme: 'standard-webhooks', slug: '' },
    ...{ name: '', app: '', secret: '' },
  })
  const create = useWrite('createWebhookReceiver', ['listWebhookReceivers'])
  const body = bodyOf(values)
  const isGiven = body.secret !== undefined
  const shown = isGiven ? { ...body, secret: HIDDEN_SECRET } : body
  const make = () =>
    create.mutate(
      { body },
      {
        onSuccess: made => {
          onMade(made, isGiven)
          onClose()
        },
      },
    )
  const set = (name: keyof Values) => (event: { target: { value: string } }) =>
    setValues({ ...values, [name]: event.target.value })
  return (
    <Dialog
      title="New receiver"
      onClose={onClose}
      call={{ id: 'createWebhookReceiver', input: { body: shown } }}
      close="Cancel"
      actions={
        <KeyedButton kind="primary" type="submit" form={form}>
          Create
        </KeyedButton>
      }
    >
      <FieldForm id={form} error={create.error} names={NAMES} onSubmit={make}>
        {errorOf => <Inputs values={values} set={set} errorOf={errorOf} />}
      </FieldForm>
    </Dialog>
  )
}

function Inputs(props: {
  values: Values
  set(name: keyof Values): (event: { target: { value: string } }) => void
  errorOf(name: string): string | undefined
}) {
  const { values, set, errorOf } = props
  return (
    <>
      <Field label="Event name" error={errorOf('eventName')}>
        {control => (
          <input
            {...control}
            data-autofocus=""
            value={values.eventName}
            placeholder="payment/received"
            onChange={set('eventName')}
          />
        )}
      </Field>
      <Field label="Signature" hint="It cannot be changed later." error={errorOf('scheme')}>
        {control => (
          <select {...control} value={values.scheme} onChange={set('scheme')}>
            {SCHEMES.map(scheme => (
              <option key={scheme}>{scheme}</option>
            ))}
          </select>
        )}
      </Field>
      <Field
        label="Last part of the URL"
        hint="3 to 64 of a-z 0-9 _ -; random if empty. It cannot be changed later."
        error={errorOf('slug')}
      >
        {control => <input {...control} value={values.slug} onChange={set('slug')} />}
      </Field>
      <Field label="Label" error={errorOf('name')}>
        {control => <input {...control} value={values.name} onChange={set('name')} />}
      </Field>
      <Field label="Event app" error={errorOf('app')}>
        {control => <input {...control} value={values.app} onChange={set('app')} />}
      </Field>
      <Field
        label="Secret from the provider"
        hint="If empty, the engine creates one and shows it once."
        error={errorOf('secret')}
      >
        {control => (
          <input {...control} type="password" autoComplete="off" value={values.secret} onChange={set('secret')} />
        )}
      </Field>
    </>
  )
}
