// The fields of the form of a schedule.

import { useId } from 'react'
import { zoneName } from '../../data/time/zone.ts'
import { Field } from '../../ui/fields/fields.tsx'
import { cronWords } from './cron-words.ts'
import type { Draft } from './draft.ts'
import css from './schedules.module.css'
import { CATCH_UPS } from './words.ts'

const CRON_HINT = 'Minute, hour, day of the month, month, weekday; seconds may come first.'

export interface InputsProps {
  draft: Draft
  isNew: boolean
  eventNames: readonly string[]
  /** Why the data is not JSON. */
  dataFault: string | undefined
  errorOf(name: string): string | undefined
  onChange(change: Partial<Draft>): void
}

/** A text field of the form. */
type TextName = Exclude<keyof Draft, 'repeats' | 'catchUp'>

export function Inputs(props: InputsProps) {
  const { draft, isNew, eventNames, dataFault, errorOf, onChange } = props
  const names = useId()
  const text = (name: TextName) => ({
    value: draft[name],
    spellCheck: false,
    onChange: ({ target }: { target: { value: string } }) => onChange({ [name]: target.value }),
  })
  return (
    <>
      {isNew && (
        <Field label="ID" hint="1 to 128 of A-Z a-z 0-9 _ . -" error={errorOf('id')}>
          {control => <input {...control} {...text('id')} data-autofocus="" placeholder="weekly-report" />}
        </Field>
      )}
      <Times {...props} text={text} />
      <Field label="Event name" error={errorOf('event.name')}>
        {control => <input {...control} {...text('name')} list={names} placeholder="report/weekly" />}
      </Field>
      <datalist id={names}>
        {eventNames.map(name => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <Field label="Event data, as JSON (optional)" error={dataFault}>
        {control => <textarea {...control} {...text('data')} rows={4} />}
      </Field>
      <details>
        <summary>App, start, end and catch-up</summary>
        <div className={css.more}>
          <Field label="Only workflows in this app" error={errorOf('event.app')}>
            {control => <input {...control} {...text('app')} />}
          </Field>
          <Field label={`Starts (${zoneName()})`} error={errorOf('startsAt')}>
            {control => <input {...control} {...text('startsAt')} type="datetime-local" step="1" />}
          </Field>
          <Field label={`Ends (${zoneName()})`} error={errorOf('endsAt')}>
            {control => <input {...control} {...text('endsAt')} type="datetime-local" step="1" />}
          </Field>
          <Field label="Missed runs that start after a time without an engine" error={errorOf('catchUp')}>
            {control => (
              <select
                {...control}
                value={draft.catchUp}
                onChange={({ target }) => onChange({ catchUp: target.value as Draft['catchUp'] })}
              >
                {Object.entries(CATCH_UPS).map(([value, words]) => (
                  <option key={value} value={value}>
                    {words}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </div>
      </details>
    </>
  )
}

/** When it fires: by a cron expression in a zone, or at an interval. */
function Times({
  draft,
  errorOf,
  onChange,
  text,
}: InputsProps & { text(name: TextName): React.InputHTMLAttributes<HTMLInputElement> }) {
  const zones = useId()
  return (
    <>
      <fieldset>
        <legend>Repeats</legend>
        {(['cron', 'every'] as const).map(repeats => (
          <label key={repeats}>
            <input
              type="radio"
              name="repeats"
              checked={draft.repeats === repeats}
              onChange={() => onChange({ repeats })}
            />
            {repeats === 'cron' ? 'at times (cron)' : 'at an interval'}
          </label>
        ))}
      </fieldset>
      {draft.repeats === 'every' ? (
        <Field label="Interval" hint="Such as 30s, 15m, 1h30m or 2 days." error={errorOf('every')}>
          {control => <input {...control} {...text('every')} />}
        </Field>
      ) : (
        <>
          <Field label="Cron" hint={cronWords(draft.cron) ?? CRON_HINT} error={errorOf('cron')}>
            {control => <input {...control} {...text('cron')} />}
          </Field>
          <Field label="Time zone" hint="UTC if empty." error={errorOf('timezone')}>
            {control => <input {...control} {...text('timezone')} list={zones} placeholder="Europe/Berlin" />}
          </Field>
          <datalist id={zones}>
            {Intl.supportedValuesOf('timeZone').map(zone => (
              <option key={zone} value={zone} />
            ))}
          </datalist>
        </>
      )}
    </>
  )
}
