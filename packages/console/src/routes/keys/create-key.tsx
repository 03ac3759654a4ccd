// The dialog that creates a key: its label, its kind, and when it expires.

import type { Calls } from '@perdure/client'
import { useState } from 'react'
import { engineNow } from '../../data/time/clock.ts'
import { momentIn, zoneName } from '../../data/time/zone.ts'
import { useWrite } from '../../data/write.ts'
import { WriteButton } from '../../ui/button.tsx'
import { FieldForm } from '../../ui/fields/fields.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { localTime } from '../../ui/time.ts'
import css from './keys.module.css'

export type NewKey = Calls['createApiKey']['reply']

const KINDS = [
  ['read', 'reads everything, changes nothing'],
  ['event', 'sends events'],
  ['runner', 'registers a runner and its workflows'],
  ['secret', 'does everything'],
] as const

const DAY_MS = 86_400_000
/** By choice: the number of days that the key is valid. */
const LIVES = { never: undefined, '7 days': 7, '30 days': 30, '90 days': 90, 'on a date': undefined } as const
type Life = keyof typeof LIVES

/** Returns the last second of a day such as `2026-11-28`, in the console's zone; undefined for other texts. */
function endOfDay(day: string): string | undefined {
  const ms = momentIn(`${day}T23:59:59`)
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString()
}

export function CreateKey({ onMade, onClose }: { onMade(made: NewKey): void; onClose(): void }) {
  const [kind, setKind] = useState<Kind>('read')
  const [label, setLabel] = useState('')
  const [life, setLife] = useState<Life>('never')
  const [expiresAt, setExpiresAt] = useState<string>()
  const create = useWrite('createApiKey', ['listApiKeys'])
  const lasts = { ...(label === '' ? {} : { label }), ...(expiresAt === undefined ? {} : { expiresAt }) }
  const input = { body: { kind, ...lasts } }
  const noDate = life === 'on a date' && expiresAt === undefined ? 'choose a date' : undefined
  const make = () =>
    create.mutate(input, {
      onSuccess: made => {
        onMade(made)
        onClose()
      },
    })
  const choose = (chosen: Life) => {
    const days = LIVES[chosen]
    setLife(chosen)
    setExpiresAt(days === undefined ? undefined : new Date(engineNow() + days * DAY_MS).toISOString())
  }
  return (
    <Dialog
      title="New key"
      onClose={onClose}
      call={{ id: 'createApiKey', input }}
      close="Cancel"
      actions={
        <WriteButton kind="primary" disabledBecause={noDate} onClick={make}>
          Create
        </WriteButton>
      }
    >
      <FieldForm
        id="new-key"
        error={create.error}
        names={[]}
        onSubmit={() => {
          if (noDate === undefined) make()
        }}
      >
        {() => (
          <>
            <label>
              Label
              <input data-autofocus="" value={label} maxLength={128} onChange={event => setLabel(event.target.value)} />
            </label>
            <KindField kind={kind} onChange={setKind} />
            <label>
              Expires
              <select value={life} onChange={event => choose(event.target.value as Life)}>
                {Object.keys(LIVES).map(each => (
                  <option key={each}>{each}</option>
                ))}
              </select>
            </label>
            {life === 'on a date' && (
              <label>
                Last day
                <input type="date" onChange={event => setExpiresAt(endOfDay(event.target.value))} />
              </label>
            )}
            {expiresAt !== undefined && (
              <p className="mute">
                Refused after {localTime(Date.parse(expiresAt)).slice(0, 19)}, {zoneName()}.
              </p>
            )}
          </>
        )}
      </FieldForm>
    </Dialog>
  )
}

type Kind = NewKey['kind']

function KindField({ kind, onChange }: { kind: Kind; onChange(kind: Kind): void }) {
  return (
    <fieldset>
      <legend>Kind</legend>
      {KINDS.map(([each, what]) => (
        <label key={each}>
          <input type="radio" name="kind" checked={kind === each} onChange={() => onChange(each)} />
          <strong className={css.kind}>{each}</strong> {what}
        </label>
      ))}
    </fieldset>
  )
}
