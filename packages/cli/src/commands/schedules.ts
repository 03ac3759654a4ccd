// `perdure schedules`: list the schedules of workflows and of the API, make, change, pause and fire them.

import {
  CATCH_UPS,
  type FireScheduleReply,
  SCHEDULE_SORTS,
  SCHEDULE_SOURCES,
  type ScheduleEntry,
} from '@perdure/protocol'
import { type Command, Option } from 'commander'
import { jsonOption, limitOption } from '../command-line/options.ts'
import { engineCommand, group, list, type Session, show } from '../command-line/session.ts'
import type { Column } from '../output/table.ts'
import { plain } from '../output/text.ts'
import { relative, withAge } from '../output/time.ts'

/** Adds `perdure schedules` to the program. */
export function schedulesCommands(program: Command): void {
  const schedules = group(program, 'schedules', {
    description: 'list, make, pause and fire schedules',
    examples: ['perdure schedules list', 'perdure schedules pause wf:shop:nightly:0'],
  })

  const listing = schedules
    .command('list')
    .description('list schedules: the crons of workflows, then those of the API')
    .addOption(new Option('--source <source>', 'only schedules of this kind').choices(SCHEDULE_SOURCES))
    .addOption(
      new Option('--sort <order>', 'next: late ones first, then the soonest; missed: those that missed instants')
        .choices(SCHEDULE_SORTS)
        .default('id'),
    )
    .addOption(limitOption('schedules', 100))
  engineCommand<{ source?: ScheduleEntry['source']; sort: (typeof SCHEDULE_SORTS)[number]; limit: number }>(
    listing,
    [
      'perdure schedules list',
      'perdure schedules list --sort next',
      'perdure schedules list --source api --json | jq -r .id',
    ],
    async session => {
      const { source, sort, limit } = session.options
      return list(session, session.client.pages.listSchedules({ source, sort, limit }, session), COLUMNS, { limit })
    },
  )

  const putting = schedules
    .command('put <id> <event>')
    .description('make a schedule that sends an event, or replace it')
    .option('--cron <cron>', 'a cron expression: five fields, or six with the seconds first')
    .option('--every <duration>', 'instead of --cron, such as 15m')
    .option('--timezone <zone>', 'the zone of --cron, such as Europe/Berlin')
    .option('--data <json>', 'the payload of the event; @file reads a file, - standard input')
    .option('--app <app>', 'only start workflows of this app')
    .option('--starts-at <time>', 'no instant comes before')
    .option('--ends-at <time>', 'no instant comes then or later')
    .addOption(new Option('--catch-up <which>', 'instants that passed while no engine ran').choices(CATCH_UPS))
  engineCommand<PutOptions>(
    putting,
    [
      "perdure schedules put weekly-report report/weekly --cron '0 9 * * 1' --timezone Europe/Berlin",
      'perdure schedules put poll inbox/poll --every 30s',
    ],
    put,
  )

  engineCommand(
    schedules.command('delete <id>').description('delete a schedule of the API'),
    ['perdure schedules delete weekly-report'],
    async (session, id = '') => {
      await session.client.deleteSchedule({ id }, session)
      return show(session, { id, deleted: true }, () => [plain(`${id} is deleted`)])
    },
  )
  for (const verb of ['pause', 'resume'] as const)
    engineCommand(
      schedules.command(`${verb} <id>`).description(`${verb} a schedule, also one of a workflow`),
      [`perdure schedules ${verb} wf:shop:nightly:0`],
      async (session, id = '') => {
        const call = verb === 'pause' ? session.client.pauseSchedule : session.client.resumeSchedule
        const schedule = await call({ id }, session)
        return show(session, schedule, () => stateOf(schedule))
      },
    )
  engineCommand(
    schedules.command('fire <id>').description('fire a schedule now; its instants stay as they are'),
    ['perdure schedules fire wf:shop:nightly:0'],
    async (session, id = '') => {
      const fired = await session.client.fireSchedule({ id }, session)
      return show(session, fired, () => [plain(outcomeOf(fired))])
    },
  )
}

interface PutOptions {
  cron?: string
  every?: string
  timezone?: string
  data?: string
  app?: string
  startsAt?: string
  endsAt?: string
  catchUp?: ScheduleEntry['catchUp']
}

async function put(session: Session<PutOptions>, id = '', name = ''): Promise<undefined> {
  const { data, app, ...options } = session.options
  const { cron, every, timezone, startsAt, endsAt, catchUp } = options
  const payload = data === undefined ? {} : { data: await jsonOption('--data', data, session.terminal) }
  const body = { cron, every, timezone, startsAt, endsAt, catchUp, event: { name, app, ...payload } }
  const schedule = await session.client.putSchedule({ id, body }, session)
  return show(session, schedule, () => stateOf(schedule))
}

function stateOf({ id, paused, next }: ScheduleEntry): string[] {
  if (paused) return [plain(`${id} is paused`)]
  return next[0] === undefined ? [plain(`${id} has ended`)] : [plain(id), `  next  ${withAge(next[0])}`]
}

function outcomeOf({ runId, eventId }: FireScheduleReply): string {
  return [eventId, runId ?? 'no run was started'].filter(Boolean).join('  ')
}

const COLUMNS: Column<ScheduleEntry>[] = [
  { title: 'ID', cell: schedule => schedule.id, whole: true },
  { title: 'WHEN', cell: ({ cron, every }) => cron ?? `every ${(every ?? 0) / 1000} s` },
  { title: 'STARTS', cell: ({ workflow, app, event }) => event?.name ?? `${app}/${workflow}`, leave: 2 },
  { title: 'NEXT', cell: ({ paused, next }) => (paused ? 'paused' : next[0] ? relative(next[0]) : 'ended') },
  { title: 'LAST', cell: ({ lastAt }) => lastAt && relative(lastAt), leave: 3 },
  { title: 'STATUS', cell: ({ lastStatus }) => lastStatus, leave: 1 },
]
