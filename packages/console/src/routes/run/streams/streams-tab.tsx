// The output streams of a run: their list, and one of them while it is written, as text or chunk by chunk.

import type { RunStream } from '@perdure/protocol'
import { useRead } from '../../../data/queries.ts'
import { useQuery } from '../../../router/router.tsx'
import { Moment } from '../../../ui/moment.tsx'
import { Loaded } from '../../../ui/states/loaded.tsx'
import { PlainTable } from '../../../ui/table/plain-table.tsx'
import { shortName } from '../../../ui/visible-text.ts'
import type { RunView } from '../model/use-run.ts'
import tabs from '../tabs/tabs.module.css'
import { StreamView } from './stream-view.tsx'

/** The list is read again while the run is open, because no topic reports that a step writes to a new stream. */
const RENEW_MS = 3000

export default function StreamsTab({ view }: { view: RunView }) {
  const [get, set] = useQuery('run')
  const { id } = view.run
  const list = useRead('listRunStreams', { id }, { keep: false, pollMs: () => (view.isLive ? RENEW_MS : false) })
  return (
    <Loaded query={list}>
      {streams => {
        const chosen = streams.find(({ name }) => name === get('stream')) ?? streams[0]
        if (!chosen) return <p className={tabs.none}>No step has written to an output stream.</p>
        return (
          <div className={tabs.tab}>
            <StreamList streams={streams} chosen={chosen.name} onChoose={stream => set({ stream })} />
            <StreamView
              key={chosen.name}
              runId={id}
              stream={chosen}
              isLive={view.isLive}
              hasStep={name => view.steps.some(step => step.name === name)}
            />
          </div>
        )
      }}
    </Loaded>
  )
}

interface StreamListProps {
  streams: readonly RunStream[]
  chosen: string
  onChoose(name: string): void
}

function StreamList({ streams, chosen, onChoose }: StreamListProps) {
  return (
    <div className={tabs.scroller}>
      <PlainTable
        label="Output streams"
        className={tabs.table}
        heads={['Stream', 'Chunks', 'Bytes', 'Last written', 'State']}
        numbers={['Chunks', 'Bytes']}
      >
        {streams.map(({ name, chunks, bytes, lastAt, ended, dropped }) => (
          <tr key={name}>
            <td>
              <button
                type="button"
                className={tabs.link}
                aria-current={name === chosen || undefined}
                onClick={() => onChoose(name)}
              >
                {name === chosen ? <strong>{shortName(name)}</strong> : shortName(name)}
              </button>
            </td>
            <td data-align="end">{chunks}</td>
            <td data-align="end">{bytes}</td>
            <td>
              <Moment at={lastAt} />
            </td>
            <td>{dropped ? 'dropped by retention' : ended ? 'ended' : 'open'}</td>
          </tr>
        ))}
      </PlainTable>
    </div>
  )
}
