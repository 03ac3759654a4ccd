// The draft of a schedule: a call that leaves it unchanged, and one that computes when it would fire.

import type { ScheduleEntry } from '@perdure/protocol'
import { afterEach, expect, test, vi } from 'vitest'
import { parse, stringify } from '../../data/json/parse.ts'
import { toggleZone, zoneName } from '../../data/time/zone.ts'
import { draftOf, newDraft, previewOf, putOf } from './draft.ts'

const ENTRY = `{"id":"weekly","source":"api","cron":"TZ=Europe/Berlin 0 9 * * 1","timezone":"Europe/Berlin","paused":false,"next":[],
  "event":{"name":"report/weekly","app":"shop","data":{"n":1.0,"big":12345678901234567890}},"catchUp":"all",
  "startsAt":"2031-01-05T10:00:00.250Z","endsAt":"2031-02-06T11:30:00.000Z"}`

afterEach(() => {
  if (zoneName() === 'UTC') toggleZone()
  vi.unstubAllEnvs()
})

test('times that are shown in UTC are read in UTC', () => {
  vi.stubEnv('TZ', 'Asia/Tokyo')
  toggleZone()
  const draft = draftOf(parse(ENTRY) as ScheduleEntry)
  expect(draft.startsAt).toBe('2031-01-05T10:00:00.250')
  expect(putOf(draft, false).body.startsAt).toBe('2031-01-05T10:00:00.250Z')
})

test('a schedule that is not changed is put as it was, its data to the letter', () => {
  const { id, body } = putOf(draftOf(parse(ENTRY) as ScheduleEntry), false)
  expect(id).toBe('weekly')
  expect(stringify(body)).toBe(
    '{"cron":"TZ=Europe/Berlin 0 9 * * 1","timezone":"Europe/Berlin",' +
      '"event":{"name":"report/weekly","app":"shop","data":{"n":1.0,"big":12345678901234567890}},' +
      '"startsAt":"2031-01-05T10:00:00.250Z","endsAt":"2031-02-06T11:30:00.000Z","catchUp":"all"}',
  )
})

test('an interval is a duration, without a time zone', () => {
  const draft = draftOf({ id: 'poll', source: 'api', every: 90_000, paused: false, next: [], event: { name: 'poll' } })
  expect(draft.every).toBe('90s')
  expect(putOf(draft, false).body).toEqual({ every: '90s', event: { name: 'poll' } })
})

test('the times are checked before an id and a name are typed', () => {
  const draft = newDraft('Europe/Berlin')
  expect(previewOf(draft, true)).toEqual({
    id: 'preview',
    body: { cron: '0 9 * * *', timezone: 'Europe/Berlin', event: { name: 'preview' }, dryRun: true },
  })
  expect(previewOf({ ...draft, id: 'weekly' }, true).body).toMatchObject({ ifAbsent: true, dryRun: true })
})
