// The engines that use the store, where there are several. Part of the page of the engine.

import type { Calls } from '@perdure/client'
import { useRead } from '../../data/queries.ts'
import { Moment } from '../../ui/moment.tsx'
import { Panel } from '../../ui/states/page.tsx'
import { Status } from '../../ui/status.tsx'
import { type Column, DataTable } from '../../ui/table/data-table.tsx'

type Engine = Calls['listEngines']['reply'][number]

const ENGINES_STALE_MS = 5000

/** Nothing for an engine that is alone. */
export function EnginesPanel() {
  const { data = [] } = useRead('listEngines', {}, { staleMs: ENGINES_STALE_MS })
  if (data.length < 2) return null
  return (
    <Panel title={`Engines on this store (${data.length})`} isFlush>
      <DataTable label="Engines" columns={COLUMNS} rows={data} keyOf={({ id }) => id} isDense />
    </Panel>
  )
}

const COLUMNS: readonly Column<Engine>[] = [
  {
    id: 'engine',
    header: 'Engine',
    render: ({ id, self }) => (
      <>
        <code title={id}>{id}</code>
        {self && ' (this one)'}
      </>
    ),
  },
  {
    id: 'state',
    header: 'State',
    render: ({ draining }) => (
      <Status status={draining ? 'paused' : 'succeeded'} word={draining ? 'draining' : 'works'} />
    ),
  },
  { id: 'version', header: 'Version', render: ({ version }) => version },
  { id: 'process', header: 'Process', isSecondary: true, render: ({ host, pid }) => `${host}, pid ${pid}` },
  { id: 'runs', header: 'Runs', align: 'end', render: engine => share(engine, 'runs') },
  { id: 'deliveries', header: 'Deliveries', align: 'end', isSecondary: true, render: e => share(e, 'deliveries') },
  { id: 'timers', header: 'Timers', align: 'end', isSecondary: true, render: e => share(e, 'timers') },
  { id: 'lag', header: 'Lag', align: 'end', render: lagOf },
  { id: 'started', header: 'Started', isSecondary: true, render: ({ startedAt }) => <Moment at={startedAt} /> },
  { id: 'seen', header: 'Seen', render: ({ seenAt }) => <Moment at={seenAt} /> },
]

function share({ lanes }: Engine, of: Engine['lanes'][number]['lane']): string {
  const found = lanes.find(({ lane }) => lane === of)
  return found ? `${found.inFlight} of ${found.max}` : ''
}

/** That of the latest lane of the store. */
function lagOf({ lanes }: Engine): string {
  const known = lanes.flatMap(({ lagMs }) => (lagMs === undefined ? [] : [lagMs]))
  return known.length === 0 ? 'unknown' : `${Math.max(...known)} ms`
}
