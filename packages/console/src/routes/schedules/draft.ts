// A schedule as typed into its form, and the call that stores it. Pure.

import type { Input } from '@perdure/client'
import { durationText, type PutSchedule, type ScheduleEntry } from '@perdure/protocol/portable'
import { RawJson, sourceOf } from '../../data/json/parse.ts'
import { momentIn } from '../../data/time/zone.ts'
import { localTime } from '../../ui/time.ts'

/** The texts of the form's fields. */
export interface Draft {
  id: string
  repeats: 'cron' | 'every'
  cron: string
  timezone: string
  every: string
  name: string
  app: string
  data: string
  /** Local times, in the form of the browser's time fields. */
  startsAt: string
  endsAt: string
  catchUp: NonNullable<ScheduleEntry['catchUp']>
}

/** Stands for an id or a name that is not typed yet, so that the times can already be checked. */
const PREVIEWED = 'preview'

export const newDraft = (timezone: string): Draft => ({
  ...{ id: '', repeats: 'cron', cron: '0 9 * * *', timezone, every: '15m' },
  ...{ name: '', app: '', data: '', startsAt: '', endsAt: '', catchUp: 'one' },
})

/** Returns the draft that leaves a schedule unchanged. */
export function draftOf({ id, cron, every, timezone, event, startsAt, endsAt, catchUp }: ScheduleEntry): Draft {
  return {
    id,
    repeats: cron === undefined ? 'every' : 'cron',
    cron: cron ?? '0 9 * * *',
    timezone: timezone ?? '',
    every: durationText(every ?? 900_000),
    name: event?.name ?? '',
    app: event?.app ?? '',
    data: event?.data === undefined ? '' : sourceOf(event.data),
    startsAt: fieldTime(startsAt),
    endsAt: fieldTime(endsAt),
    catchUp: catchUp ?? 'one',
  }
}

const fieldTime = (at: string | undefined) =>
  at === undefined
    ? ''
    : localTime(Date.parse(at))
        .replace(' ', 'T')
        .replace(/\.000$/, '')

const given = <Name extends string>(name: Name, text: string) =>
  (text.trim() === '' ? {} : { [name]: text.trim() }) as { [Key in Name]?: string }

/** Converts a local time. A text that is not a time goes to the engine unchanged, and the engine names it. */
function instant<Name extends string>(name: Name, local: string) {
  const ms = momentIn(local)
  return given(name, Number.isNaN(ms) ? local : new Date(ms).toISOString())
}

/** Returns the call that stores the draft. `isNew`: it replaces nothing. */
export function putOf(draft: Draft, isNew: boolean): Input<'putSchedule'> {
  const { id, repeats, cron, timezone, every, name, app, data, startsAt, endsAt, catchUp } = draft
  const times = repeats === 'cron' ? { cron, ...given('timezone', timezone) } : { every: every as PutSchedule['every'] }
  return {
    id,
    body: {
      ...times,
      event: { name, ...given('app', app), ...(data.trim() === '' ? {} : { data: new RawJson(data) }) },
      ...instant('startsAt', startsAt),
      ...instant('endsAt', endsAt),
      ...(catchUp === 'one' ? {} : { catchUp }),
      ...(isNew ? { ifAbsent: true } : {}),
    },
  }
}

/** Returns the call that computes when the draft would fire. Empty fields are not errors yet. */
export function previewOf(draft: Draft, isNew: boolean): Input<'putSchedule'> {
  const typed = { ...draft, id: draft.id || PREVIEWED, name: draft.name || PREVIEWED }
  const { id, body } = putOf(typed, isNew && draft.id !== '')
  return { id, body: { ...body, dryRun: true } }
}
