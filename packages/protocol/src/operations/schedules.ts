// Operations of schedules: list all, and make, change, pause and fire them.

import * as api from '../api/schema.ts'
import { registry as queries } from '../queries/registry.ts'
import { type Operation, ok, page } from './operation.ts'

const SCHEDULE_ID = 'weekly-report'

const SCHEDULE = {
  id: SCHEDULE_ID,
  source: 'api',
  cron: '0 9 * * 1',
  timezone: 'Europe/Berlin',
  event: { name: 'report/weekly', data: { team: 'sales' } },
  catchUp: 'one',
  paused: false,
  next: [
    '2025-03-03T08:00:00.000Z',
    '2025-03-10T08:00:00.000Z',
    '2025-03-17T08:00:00.000Z',
    '2025-03-24T08:00:00.000Z',
    '2025-03-31T07:00:00.000Z',
  ],
}

export const schedules = {
  listSchedules: {
    method: 'GET',
    path: '/schedules',
    summary: 'List schedules: the crons of workflows, then those of the API, each by id',
    description:
      'Sorted by `next`, late ones come first, then those that fire soonest; paused and ended ones are left out. Sorted by `missed`, only schedules with missed times are listed, the latest missed time first.',
    access: 'read',
    query: queries.listSchedules,
    reply: page('A page of schedules', api.ScheduleEntrySchema),
    errors: ['invalid_cursor'],
    examples: [{ summary: 'Schedules that were created here', query: { source: 'api' }, reply: [SCHEDULE] }],
  },

  putSchedule: {
    method: 'PUT',
    path: '/schedules/{id}',
    summary: 'Make a schedule that sends an event, or replace it',
    description:
      'A schedule whose times stay the same keeps its next time, so a deployment may put it again. It stays paused, too. With `dryRun` nothing is stored: the answer shows the next instants.',
    access: 'secret',
    body: { schema: api.PutScheduleSchema, required: true },
    reply: ok('The schedule', api.ScheduleEntrySchema),
    errors: ['conflict'],
    examples: [
      {
        summary: 'Every Monday at nine',
        path: { id: SCHEDULE_ID },
        body: { cron: SCHEDULE.cron, timezone: SCHEDULE.timezone, event: SCHEDULE.event },
        reply: SCHEDULE,
      },
      {
        summary: 'When it would fire',
        path: { id: SCHEDULE_ID },
        body: { cron: SCHEDULE.cron, timezone: SCHEDULE.timezone, event: SCHEDULE.event, dryRun: true },
        reply: SCHEDULE,
      },
    ],
  },

  deleteSchedule: {
    method: 'DELETE',
    path: '/schedules/{id}',
    summary: 'Delete a schedule of the API; one of a workflow goes with its registration',
    access: 'secret',
    reply: { status: 204, description: 'It will not fire' },
    errors: ['not_found', 'conflict'],
    examples: [{ summary: 'Drop a report', path: { id: SCHEDULE_ID } }],
  },

  pauseSchedule: {
    method: 'POST',
    path: '/schedules/{id}/pause',
    summary: 'Pause a schedule, including a schedule of a workflow',
    access: 'secret',
    reply: ok('The schedule', api.ScheduleEntrySchema),
    errors: ['not_found'],
    examples: [
      {
        summary: 'Hold a report back',
        path: { id: SCHEDULE_ID },
        reply: { ...SCHEDULE, paused: true, next: [] },
      },
    ],
  },

  resumeSchedule: {
    method: 'POST',
    path: '/schedules/{id}/resume',
    summary: 'Resume a schedule; times during its pause are not made up for',
    access: 'secret',
    reply: ok('The schedule', api.ScheduleEntrySchema),
    errors: ['not_found', 'conflict'],
    examples: [{ summary: 'Resume a report', path: { id: SCHEDULE_ID }, reply: SCHEDULE }],
  },

  fireSchedule: {
    method: 'POST',
    path: '/schedules/{id}/fire',
    summary: 'Fire a schedule now, even while it is paused; its scheduled times do not change',
    access: 'secret',
    reply: { status: 202, description: 'What it started', schema: api.FireScheduleReplySchema },
    errors: ['not_found', 'namespace_suspended'],
    examples: [
      {
        summary: 'The report of this moment',
        path: { id: SCHEDULE_ID },
        reply: { eventId: 'evt_01JNA0M1S0D5Z8M6R5K4Q3W2E1', triggered: [] },
      },
    ],
  },
} as const satisfies Record<string, Operation>
