// The limits that steps share, on the page of limits: turns that are counted, and steps that wait for theirs.

import type { Calls } from '@perdure/client'
import { useRead } from '../../data/queries.ts'
import { Link } from '../../router/router.tsx'
import { durationText } from '../../ui/duration.ts'
import { Moment } from '../../ui/moment.tsx'
import { type ActiveFilter, Empty, FilteredEmpty, Snippet } from '../../ui/states/empty.tsx'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Panel } from '../../ui/states/page.tsx'
import type { Column } from '../../ui/table/data-table.tsx'
import { ListTable } from '../../ui/table/list-table.tsx'
import { PeekPart } from '../../ui/table/peek-panel.tsx'
import { WholeRows } from '../../ui/table/whole-rows.tsx'
import { Visible } from '../../ui/visible.tsx'
import { shortName } from '../../ui/visible-text.ts'

type Turns = Extract<Calls['listLimits']['reply'][number], { kind: 'step' }>

/** Maximum number per answer. */
const SHOWN_MAX = 200

const COLUMNS: readonly Column<Turns>[] = [
  { id: 'of', header: 'Limit', width: '22%', render: turns => <Of turns={turns} /> },
  { id: 'key', header: 'Key', width: '18%', render: ({ key }) => (key === undefined ? '' : <Visible text={key} />) },
  { id: 'use', header: 'Turns taken', width: '170px', render: takenText },
  { id: 'waiting', header: 'Waiting', width: '84px', align: 'end', render: turns => <Waiting turns={turns} /> },
  { id: 'oldest', header: 'Oldest', width: '112px', align: 'end', render: ({ oldestAt }) => <Moment at={oldestAt} /> },
  { id: 'next', header: 'Next turn', render: ({ nextTurnAt }) => <Moment at={nextTurnAt} /> },
]

interface StepLimitsProps {
  app: string | undefined
  /** The key in the page's filter. */
  keyText: string | undefined
  filters: readonly ActiveFilter[]
}

export function StepLimits({ app, keyText, filters }: StepLimitsProps) {
  const query = useRead('listLimits', { kind: 'step', app, key: keyText, limit: SHOWN_MAX })
  return (
    <Panel title="Limits of steps" isFlush>
      <Loaded query={query} rows={2}>
        {found => {
          const shown = found.filter(limit => limit.kind === 'step')
          return (
            <>
              {shown.length === 0 ? (
                <None filters={filters} />
              ) : (
                <WholeRows count={shown.length}>
                  <ListTable
                    label="Limits of steps"
                    columns={COLUMNS}
                    rows={shown}
                    keyOf={({ app, name, key }) => [app, name, key].join('\n')}
                    look={lookAt}
                  />
                </WholeRows>
              )}
              {shown.length === SHOWN_MAX && (
                <p className="mute">Showing the {SHOWN_MAX} with the most waiting steps; there may be more.</p>
              )}
            </>
          )
        }}
      </Loaded>
    </Panel>
  )
}

function None({ filters }: { filters: readonly ActiveFilter[] }) {
  if (filters.length > 0) return <FilteredEmpty what="limits of steps" filters={filters} />
  return (
    <Empty title="No steps at limits">
      <p>A limit appears here while steps use it or wait for it.</p>
      <Snippet text={"limits: { openai: { limit: 50, period: '1m' } }"} />
    </Empty>
  )
}

function Of({ turns: { app, name } }: { turns: Turns }) {
  return (
    <>
      {name} <span className="mute">{app}</span>
    </>
  )
}

function takenText({ taken, limit, periodMs }: Turns): string {
  if (limit === undefined || periodMs === undefined) return `${taken}, not registered`
  return `${taken} of ${limit} in ${durationText(periodMs)}`
}

function Waiting({ turns: { app, waiting } }: { turns: Turns }) {
  if (!waiting) return null
  return <Link target={{ to: 'runs', query: { app, status: 'waiting' } }}>{waiting}</Link>
}

function lookAt(turns: Turns) {
  return {
    head: <b>{shortName(turns.name)}</b>,
    body: (
      <>
        <PeekPart name="App" text={turns.app} />
        <PeekPart name="Key" text={turns.key} />
        <PeekPart name="Turns taken" text={takenText(turns)} />
        <PeekPart name="Waiting" text={String(turns.waiting)} />
      </>
    ),
  }
}
