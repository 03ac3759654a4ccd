// The engines that use the store, if there are several. Part of the page of the engine.

import type { Calls } from '@perdure/client'
import { useRead } from '../../data/queries.ts'
import { Moment } from '../../ui/moment.tsx'
import { Panel } from '../../ui/states/page.tsx'
import { Status } from '../../ui/status.tsx'
import type { Column } from '../../ui/table/data-table.tsx'
import { ListTable, type Look } from '../../ui/table/list-table.tsx'
import { PeekPart } from '../../ui/table/peek-panel.tsx'
import { laneWords } from './engine-words.ts'

type Engine = Calls['listEngines']['reply'][number]

const ENGINES_STALE_MS = 5000

/** Shows nothing for a single engine. */
export function EnginesPanel() {
  const { data = [] } = useRead('listEngines', {}, { staleMs: ENGINES_STALE_MS })
  if (data.length < 2) return null
  return (
    <Panel title={`Engines on this store (${data.length})`} isFlush>
      <ListTable
        hasMenuButton={false}
        label="Engines"
        columns={COLUMNS}
        rows={data}
        keyOf={({ id }) => id}
        look={lookAt}
        isDense
      />
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
    render: engine => <Status status={lookOf(engine)} word={stateOf(engine)} />,
  },
  { id: 'version', header: 'Version', render: ({ version }) => version },
  { id: 'process', header: 'Process', isSecondary: true, render: ({ host, pid }) => `${host}, pid ${pid}` },
  { id: 'runs', header: 'Runs', align: 'end', render: engine => share(engine, 'runs') },
  { id: 'deliveries', header: 'Deliveries', align: 'end', isSecondary: true, render: e => share(e, 'deliveries') },
  { id: 'timers', header: 'Timers', align: 'end', isSecondary: true, render: e => share(e, 'timers') },
  { id: 'lag', header: 'Lag', align: 'end', render: lagOf },
  { id: 'started', header: 'Started', isSecondary: true, render: ({ startedAt }) => <Moment at={startedAt} /> },
  { id: 'seen', header: 'Last seen', render: ({ seenAt }) => <Moment at={seenAt} /> },
]

/** Returns the services that do not answer the engine. */
const missingOf = ({ checks = {} }: Engine) => Object.keys(checks).filter(name => checks[name] !== 'ok')

function stateOf(engine: Engine): string {
  const missing = missingOf(engine)
  if (missing.length > 0) return `without ${missing.join(', ')}`
  if (engine.draining) return 'draining'
  return engine.held ? 'held' : 'working'
}

const lookOf = (engine: Engine) =>
  missingOf(engine).length > 0 ? 'failed' : engine.draining || engine.held ? 'paused' : 'succeeded'

/** Describes the work of one engine, in the sentences that the page uses for the answering engine. */
function lookAt({ id, lanes, writes, streams, sockets, queue, limiter, limiterEntries }: Engine): Look {
  const work = laneWords([{ lanes }]).map(({ sentence }) => sentence)
  const written = writes && [
    `${writes.commits} commits since startup.`,
    ...(writes.batches > 0 ? [`${(writes.requests / writes.batches).toFixed(1)} writes per batch on average.`] : []),
    `${writes.pending} ${writes.pending === 1 ? 'write is' : 'writes are'} waiting for the disk.`,
  ]
  const kept = limiterEntries === undefined ? '' : `, ${limiterEntries} rate-limit counters`
  return {
    head: <b>{id}</b>,
    body: (
      <>
        <PeekPart name="Lanes" text={work.join('\n')} />
        <PeekPart name="Writes" text={written?.join('\n')} />
        <PeekPart name="Open" text={`${streams} streams, ${sockets} Connect sockets`} />
        <PeekPart name="Queue" text={queue} />
        <PeekPart name="Limiter" text={limiter && limiter + kept} />
      </>
    ),
  }
}

function share({ lanes }: Engine, of: Engine['lanes'][number]['lane']): string {
  const found = lanes.find(({ lane }) => lane === of)
  return found ? `${found.inFlight} of ${found.max}` : ''
}

/** Returns the lag of the store's latest lane. */
function lagOf({ lanes }: Engine): string {
  const known = lanes.flatMap(({ lagMs }) => (lagMs === undefined ? [] : [lagMs]))
  return known.length === 0 ? 'unknown' : `${Math.max(...known)} ms`
}
