// The engine: version, store, readiness, limits and features, its metrics about lanes, commits and streams, its settings, and the
// progress of retention; and if several engines use the store, each of them.

import { useQuery as useCached } from '@tanstack/react-query'
import { renew, useRead } from '../../data/queries.ts'
import { ENGINE_URL } from '../../router/base.ts'
import { currentSession, useSession } from '../../session/session.ts'
import { tokenOf } from '../../session/tokens.ts'
import { Facts } from '../../ui/facts.tsx'
import { useRenewal } from '../../ui/live-list/use-renewal.ts'
import { Moment } from '../../ui/moment.tsx'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Page, Panel } from '../../ui/states/page.tsx'
import { Status } from '../../ui/status.tsx'
import { type Column, DataTable } from '../../ui/table/data-table.tsx'
import css from './engine.module.css'
import { laneWords, metricWords } from './engine-words.ts'
import { EnginesPanel } from './engines.tsx'
import { Held } from './held.tsx'
import { type Sample, samplesOf } from './metrics.ts'
import { Retention, Settings } from './settings.tsx'

const METRICS_STALE_MS = 10_000
/** Delay from a change of a run to the next read. */
const RENEWAL_MS = 10_000

const COLUMNS: readonly Column<Sample>[] = [
  { id: 'name', header: 'Metric', render: ({ name, help }) => <span title={help}>{name}</span> },
  { id: 'labels', header: 'Labels', width: '40%', render: ({ labels }) => <code title={labels}>{labels}</code> },
  { id: 'value', header: 'Value', width: '176px', align: 'end', render: ({ value }) => value },
]

export default function EnginePage() {
  const { whoami } = useSession()
  const engines = useRead('listEngines', {}, { staleMs: METRICS_STALE_MS })
  const self = engines.data?.find(engine => engine.self)
  const metrics = useCached({
    queryKey: ['metrics', whoami?.namespace],
    queryFn: async ({ signal }) => samplesOf(await readMetrics(signal)),
    staleTime: METRICS_STALE_MS,
  })
  useRenewal(() => Promise.all([renew('listEngines', 'getReadiness'), metrics.refetch()]), { afterMs: RENEWAL_MS })
  return (
    <Page title="Engine">
      {whoami && (
        <Panel title="This engine">
          <Facts
            facts={[
              ['Version', whoami.version],
              ['Store', whoami.store === 'sqlite' ? 'SQLite' : 'PostgreSQL'],
              ['Clock', whoami.now],
              ['Up since', self && <Moment at={self.startedAt} />],
              ['Access', whoami.open ? 'open, this machine only' : 'by key'],
              ['Namespace', whoami.suspended ? `${whoami.namespace}, suspended` : whoami.namespace],
              ['Streams', `at most ${whoami.limits.streams} per namespace, ${whoami.limits.keyStreams} per key`],
              ['Bulk replay', `${whoami.limits.bulkReplay} runs at once`],
              ['Wire features', whoami.features.join(', ')],
            ]}
          />
        </Panel>
      )}
      {self?.held ? <Held /> : <Readiness />}
      <Work samples={metrics.data ?? []} />
      <EnginesPanel />
      <Retention engines={engines.data ?? []} />
      <Settings engines={engines.data ?? []} />
      <Panel title="Metrics" isFlush>
        <Loaded query={metrics}>
          {samples => (
            <DataTable
              label="Metrics"
              columns={COLUMNS}
              rows={samples}
              keyOf={({ name, labels }) => `${name}{${labels}}`}
              isDense
            />
          )}
        </Loaded>
      </Panel>
    </Page>
  )
}

/** Shows the answer of the readiness probe. */
function Readiness() {
  const ready = useRead('getReadiness', {}, { staleMs: METRICS_STALE_MS })
  return (
    <Panel title="Readiness">
      <Loaded query={ready} rows={1}>
        {({ status, checks, draining }) => (
          <Facts
            facts={[
              [
                'Accepts requests',
                <Status
                  key="s"
                  status={status === 'ready' ? 'succeeded' : 'failed'}
                  word={draining ? 'draining' : status}
                />,
              ],
              ...Object.entries(checks).map(
                ([name, state]) =>
                  [
                    name.charAt(0).toUpperCase() + name.slice(1),
                    <Status key={name} status={state === 'ok' ? 'succeeded' : 'failed'} word={state} />,
                  ] as const,
              ),
            ]}
          />
        )}
      </Loaded>
    </Panel>
  )
}

/** Lanes, writes and streams in sentences. */
function Work({ samples }: { samples: readonly Sample[] }) {
  const engines = useRead('listEngines', {}, { staleMs: METRICS_STALE_MS })
  return (
    <Panel title="Load">
      <Loaded query={engines} rows={2}>
        {all => (
          <ul className={`plain-list ${css.sentences}`}>
            {laneWords(all).map(({ lane, sentence }) => (
              <li key={lane}>{sentence}</li>
            ))}
            {metricWords(samples).map(sentence => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        )}
      </Loaded>
    </Panel>
  )
}

/** Reads the metrics. The client has no method for them, because they are text. */
async function readMetrics(signal: AbortSignal): Promise<string> {
  const token = tokenOf(currentSession().namespace)
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const answer = await fetch(`${ENGINE_URL}/metrics`, { headers, signal, cache: 'no-store', credentials: 'omit' })
  if (!answer.ok) throw new Error(`/metrics was answered with ${answer.status}`)
  return answer.text()
}
