// Schedules: the crons of workflows and the schedules of the API, with their next instants.

import { useState } from 'react'
import { itemsOf, renew, usePages } from '../../data/queries.ts'
import { zoneName } from '../../data/time/zone.ts'
import { useQuery } from '../../router/router.tsx'
import { useSession, whyNoWrite } from '../../session/session.ts'
import { WriteButton } from '../../ui/button.tsx'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { useRenewal } from '../../ui/live-list/use-renewal.ts'
import { type EachAction, EachBar } from '../../ui/selection/each.tsx'
import { useSelection } from '../../ui/selection/use-selection.ts'
import { Empty, Snippet } from '../../ui/states/empty.tsx'
import { activeFilters } from '../../ui/states/filter-fields.ts'
import { Page, Panel } from '../../ui/states/page.tsx'
import type { Column } from '../../ui/table/data-table.tsx'
import type { Look } from '../../ui/table/list-table.tsx'
import { PagedTable } from '../../ui/table/paged-table.tsx'
import { PeekPart } from '../../ui/table/peek-panel.tsx'
import { localTime } from '../../ui/time.ts'
import { shortName } from '../../ui/visible-text.ts'
import { Actions, DeleteSchedule } from './actions.tsx'
import { Last, missedLines, Next, Past, type Schedule, Starts, When } from './cells.tsx'
import { ScheduleDialog } from './schedule-dialog.tsx'
import { CATCH_UPS } from './words.ts'

const COLUMNS: readonly Column<Schedule>[] = [
  { id: 'starts', header: 'Starts', render: schedule => <Starts schedule={schedule} /> },
  { id: 'when', header: 'When', render: schedule => <When schedule={schedule} /> },
  { id: 'next', header: 'Next', width: '124px', render: schedule => <Next schedule={schedule} /> },
  {
    id: 'past',
    header: 'Past runs',
    width: '100px',
    isSecondary: true,
    render: schedule => <Past schedule={schedule} />,
  },
  { id: 'last', header: 'Last', width: '180px', render: schedule => <Last schedule={schedule} /> },
  { id: 'acts', header: 'Actions', width: '272px', render: schedule => <Actions schedule={schedule} /> },
]

/** Delay from a change of a run to the next read. */
const RENEWAL_MS = 10_000

const FILTERS = ['workflow', 'app', 'source', 'state'] as const
const SOURCES: readonly Schedule['source'][] = ['workflow', 'api']
/** By state of a schedule. */
const STATES: Readonly<Record<string, (schedule: Schedule) => boolean>> = {
  active: ({ paused }) => !paused,
  paused: ({ paused }) => paused,
  late: ({ lateMs }) => lateMs !== undefined,
  missed: ({ missed }) => missed !== undefined,
}
/** The order that starts with the schedules in a state. */
const SORTS: Readonly<Record<string, 'next' | 'missed'>> = { late: 'next', missed: 'missed' }
const none = () => false

/** The actions for each selected schedule. */
const EACH: readonly EachAction<Schedule>[] = [
  {
    label: 'Pause',
    sentence: 'They do not fire until they are resumed. Runs already started continue.',
    id: 'pauseSchedule',
    inputOf: ({ id }) => ({ id }),
    fits: ({ paused }) => !paused,
  },
  {
    label: 'Resume',
    sentence: 'They fire again at their next scheduled times. Missed times are not made up.',
    id: 'resumeSchedule',
    inputOf: ({ id }) => ({ id }),
    fits: ({ paused }) => paused,
  },
  {
    label: 'Fire now',
    sentence: 'Each one fires now. Later runs are not affected.',
    id: 'fireSchedule',
    inputOf: ({ id }) => ({ id }),
  },
]

/** The open dialog: for a new schedule, or for deleting one. */
type Open = 'new' | { delete: string } | undefined

export default function SchedulesPage() {
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)
  const refused = whyNoWrite(useSession())
  const [get, set] = useQuery('schedules')
  const [workflow, app, source, state] = FILTERS.map(get)
  const query = usePages('listSchedules', {
    limit: 100,
    source: source as Schedule['source'] | undefined,
    sort: SORTS[state ?? ''],
  })
  useRenewal(() => renew('listSchedules'), { afterMs: RENEWAL_MS, withEvents: true })
  const { selected, setSelected, clear } = useSelection({ workflow, app, source, state })
  const all = itemsOf(query)
  const filters = activeFilters(FILTERS, get, set)
  const known = (name: 'app' | 'workflow') => [...new Set(all.flatMap(schedule => schedule[name] ?? []))].sort()
  const isShown = (schedule: Schedule) =>
    (app === undefined || schedule.app === app) &&
    (workflow === undefined || schedule.workflow === workflow) &&
    (state === undefined || (STATES[state] ?? none)(schedule))
  return (
    <Page
      title="Schedules"
      actions={
        <WriteButton kind="primary" onClick={() => setOpen('new')}>
          New schedule…
        </WriteButton>
      }
    >
      <Filters known={known} />
      <Panel isFlush>
        <PagedTable
          isWhole
          label="Schedules"
          query={query}
          rowsOf={page => page.items.filter(isShown)}
          columns={COLUMNS}
          keyOf={({ id }) => id}
          look={lookAt}
          menuOf={({ id, source }) => [
            {
              label: 'Delete…',
              isDanger: true,
              disabledBecause: source === 'workflow' ? 'declared in code' : refused,
              onSelect: () => setOpen({ delete: id }),
            },
          ]}
          filters={filters}
          what="schedules"
          empty={<NoSchedules />}
          selection={{ keys: selected, onChange: setSelected }}
        />
      </Panel>
      {selected.size > 0 && (
        <EachBar
          rows={all.filter(schedule => selected.has(schedule.id) && isShown(schedule))}
          nouns={['schedule', 'schedules']}
          actions={EACH}
          renews={['listSchedules']}
          onClear={clear}
        />
      )}
      {open === 'new' && <ScheduleDialog onClose={close} />}
      {typeof open === 'object' && <DeleteSchedule id={open.delete} onClose={close} />}
    </Page>
  )
}

function Filters({ known }: { known(name: 'app' | 'workflow'): string[] }) {
  const [get, set] = useQuery('schedules')
  const [workflow, app, source, state] = FILTERS.map(get)
  return (
    <FilterBar
      label="Filter schedules"
      fields={[
        {
          name: 'workflow',
          label: 'Workflow',
          value: workflow,
          known: known('workflow'),
          onChange: workflow => set({ workflow }),
        },
        { name: 'app', label: 'App', value: app, known: known('app'), onChange: app => set({ app }) },
        { name: 'source', label: 'Created by', value: source, choices: SOURCES, onChange: source => set({ source }) },
        {
          name: 'state',
          label: 'State',
          value: state,
          choices: Object.keys(STATES),
          onChange: state => set({ state }),
        },
      ]}
    />
  )
}

/** Returns the preview. Its instants are in the chosen zone. */
function lookAt({ id, workflow, cron, timezone, startsAt, endsAt, catchUp, next, event, missed }: Schedule): Look {
  return {
    head: <b>{shortName(workflow ?? id)}</b>,
    body: (
      <>
        <PeekPart name="Cron" text={cron && [cron, timezone].filter(Boolean).join(' ')} />
        <PeekPart name="Event" text={event?.name} />
        <PeekPart name={`Starts (${zoneName()})`} text={startsAt && localTime(Date.parse(startsAt))} />
        <PeekPart name={`Ends (${zoneName()})`} text={endsAt && localTime(Date.parse(endsAt))} />
        <PeekPart name="Catch-up" text={catchUp && CATCH_UPS[catchUp]} />
        <PeekPart name="Missed" text={missed && missedLines(missed)} />
        <PeekPart name={`Next (${zoneName()})`} text={next.map(at => localTime(Date.parse(at))).join('\n')} />
      </>
    ),
  }
}

function NoSchedules() {
  return (
    <Empty title="No schedules yet">
      <p>
        A workflow with a cron trigger gets one when its runner registers. You can create others here, or with the
        command.
      </p>
      <Snippet text={"triggers: [{ cron: 'TZ=Europe/Berlin 0 9 * * 1-5' }]"} />
      <Snippet text="perdure schedules put weekly-report report/weekly --cron '0 9 * * 1'" />
    </Empty>
  )
}
