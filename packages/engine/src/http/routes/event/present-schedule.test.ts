// How late a schedule is, as lists show it (docs/http-api/schedules.md#scheduleentry).

import type { ScheduleEntry } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { entryText } from './present-schedule.ts'

const DUE = Date.UTC(2031, 0, 1, 3)
const workflow = { app: 'shop', name: 'bill' }
const ofWorkflow = { id: 'wf:shop:bill:0', workflow, cron: '0 3 * * *', timezone: 'UTC', nextRunAt: DUE }
const ofApi = { id: 'a', createdAt: 0, everyMs: 60_000, catchUp: 'one', eventName: 'tick', nextAt: DUE } as const
const at = (schedule: typeof ofWorkflow | typeof ofApi | Omit<typeof ofApi, 'nextAt'>, now: number) =>
  (JSON.parse(entryText(schedule, { now, lastStatus: undefined })) as ScheduleEntry).lateMs

test.each([ofWorkflow, ofApi])('$id is late by the time since its next instant, while that has not fired', schedule => {
  expect(at(schedule, DUE + 1500)).toBe(1500)
  expect(at(schedule, DUE)).toBeUndefined()
  expect(at(schedule, DUE - 1)).toBeUndefined()
})

test('a schedule without a next instant is not late', () => {
  const { nextAt: _, ...ended } = ofApi
  expect(at(ended, DUE + 1500)).toBeUndefined()
  expect(at({ ...ofWorkflow, paused: true } as typeof ofWorkflow, DUE + 1500)).toBeUndefined()
})
