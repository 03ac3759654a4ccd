// `perdure schedules`: lists the schedules of workflows and of the API; creates, changes, pauses and fires them.

import { CATCH_UPS, type Duration, type ScheduleEntry } from '@perdure/protocol'
import { type Command, Option } from 'commander'
import { type EngineContext, group } from '../command-line/commands.ts'
import { doneCommand, listCommand, showCommand } from '../command-line/operation.ts'
import { jsonOption } from '../command-line/options.ts'
import { plain } from '../output/text.ts'
import { relative, withAge } from '../output/time.ts'

/** Adds `perdure schedules` to the program. */
export function schedulesCommands(program: Command): void {
  const schedules = group(program, 'schedules', {
    description: 'list, make, pause and fire schedules',
    examples: ['perdure schedules list', 'perdure schedules pause wf:shop:nightly:0'],
  })
  listCommand(schedules, 'list', {
    operation: 'listSchedules',
    description: 'list schedules: the crons of workflows, then those of the API',
    examples: [
      'perdure schedules list',
      'perdure schedules list --sort next',
      'perdure schedules list --source api --json | jq -r .id',
    ],
    rows: 'schedules',
    texts: { sort: 'next: late ones first, then the soonest; missed: those with missed runs' },
    columns: [
      'id',
      { title: 'WHEN', cell: ({ cron, every }) => cron ?? `every ${(every ?? 0) / 1000} s` },
      { title: 'STARTS', cell: ({ workflow, app, event }) => event?.name ?? `${app}/${workflow}`, leave: 2 },
      { title: 'NEXT', cell: ({ paused, next }) => (paused ? 'paused' : next[0] ? relative(next[0]) : 'ended') },
      { field: 'lastAt', leave: 3 },
      { field: 'lastStatus', title: 'STATUS', leave: 1 },
    ],
  })
  putCommand(schedules)
  doneCommand(schedules, 'delete', {
    operation: 'deleteSchedule',
    description: 'delete a schedule of the API',
    examples: ['perdure schedules delete weekly-report'],
    done: 'deleted',
    line: ({ id }) => `${id} is deleted`,
  })
  for (const verb of ['pause', 'resume'] as const)
    showCommand(schedules, verb, {
      operation: `${verb}Schedule`,
      description: `${verb} a schedule, including a schedule of a workflow`,
      examples: [`perdure schedules ${verb} wf:shop:nightly:0`],
      lines: stateOf,
    })
  showCommand(schedules, 'fire', {
    operation: 'fireSchedule',
    description: 'fire a schedule now; its later runs are not affected',
    examples: ['perdure schedules fire wf:shop:nightly:0'],
    lines: ({ eventId, runId }) => [plain([eventId, runId ?? 'no run was started'].filter(Boolean).join('  '))],
  })
}

interface PutOptions {
  cron?: string
  every?: Duration
  timezone?: string
  data?: string
  app?: string
  startsAt?: string
  endsAt?: string
  catchUp?: ScheduleEntry['catchUp']
  ifAbsent?: true
  dryRun?: true
}

function putCommand(schedules: Command): void {
  showCommand(schedules, 'put', {
    operation: 'putSchedule',
    description: 'make a schedule that sends an event, or replace it',
    examples: [
      "perdure schedules put weekly-report report/weekly --cron '0 9 * * 1' --timezone Europe/Berlin",
      'perdure schedules put poll inbox/poll --every 30s',
      "perdure schedules put weekly-report report/weekly --cron '0 9 * * 1' --dry-run",
    ],
    moreArguments: ['event'],
    more: [
      new Option('--cron <cron>', 'a cron expression: five fields, or six with the seconds first'),
      new Option('--every <duration>', 'instead of --cron, such as 15m'),
      new Option('--timezone <zone>', 'the zone of --cron, such as Europe/Berlin'),
      new Option('--data <json>', 'the payload of the event; @file reads a file, - standard input'),
      new Option('--app <app>', 'only start workflows of this app'),
      new Option('--starts-at <time>', 'it does not fire before this time'),
      new Option('--ends-at <time>', 'it does not fire at or after this time'),
      new Option('--catch-up <which>', 'which missed runs start after a time without an engine').choices(CATCH_UPS),
      new Option('--if-absent', 'do not replace an existing schedule with this id'),
      new Option('--dry-run', 'show when it would fire, and store nothing'),
    ],
    body: async ({ options, terminal }: EngineContext<PutOptions>, name = '') => {
      const { data, app, cron, every, timezone, startsAt, endsAt, catchUp, ifAbsent, dryRun } = options
      const payload = data === undefined ? {} : { data: await jsonOption('--data', data, terminal) }
      const event = { name, app, ...payload }
      return { cron, every, timezone, startsAt, endsAt, catchUp, ifAbsent, dryRun, event }
    },
    lines: (schedule, { options }) =>
      options.dryRun ? schedule.next.map(at => `would fire  ${withAge(at)}`) : stateOf(schedule),
  })
}

function stateOf({ id, paused, next }: ScheduleEntry): string[] {
  if (paused) return [plain(`${id} is paused`)]
  return next[0] === undefined ? [plain(`${id} has ended`)] : [plain(id), `  next  ${withAge(next[0])}`]
}
