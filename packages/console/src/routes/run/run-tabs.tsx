// The tabs of a run. The timeline is loaded with the page; the others are small and share its chunk.

import { lazy, memo, type ReactNode, Suspense } from 'react'
import { useUtc } from '../../data/time/zone.ts'
import { useKeys } from '../../keys/keys.ts'
import { useQuery } from '../../router/router.tsx'
import { Waiting } from '../../ui/states/loaded.tsx'
import { Boundary } from '../../ui/states/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { AuditTab } from './tabs/audit-tab.tsx'
import { IoTab } from './tabs/io-tab.tsx'
import { LogsTab } from './tabs/logs-tab.tsx'
import { PassesTab } from './tabs/passes-tab.tsx'
import { RawTab } from './tabs/raw-tab.tsx'
import { TreeTab } from './tabs/tree-tab.tsx'
import { TimelineTab, type TimelineTabProps } from './timeline-tab.tsx'

const StreamsTab = lazy(() => import('./streams/streams-tab.tsx'))

/** By name of the tab. */
const TABS = {
  timeline: { label: 'Timeline', show: props => <TimelineTab {...props} /> },
  logs: { label: 'Logs', show: ({ view }) => <LogsTab view={view} /> },
  io: { label: 'Input and result', show: ({ view }) => <IoTab view={view} /> },
  tree: { label: 'Tree', show: ({ view }) => <TreeTab view={view} /> },
  passes: { label: 'Passes', show: ({ view }) => <PassesTab view={view} /> },
  audit: { label: 'Audit', show: ({ view }) => <AuditTab runId={view.run.id} /> },
  raw: { label: 'Raw', show: ({ view }) => <RawTab view={view} /> },
  streams: {
    label: 'Streams',
    show: ({ view }) => (
      <Suspense fallback={<Waiting rows={4} />}>
        <StreamsTab view={view} />
      </Suspense>
    ),
  },
} as const satisfies Record<string, { label: string; show(props: TimelineTabProps): ReactNode }>
type TabName = keyof typeof TABS

/** Tabs that need more data from the engine than a bundle has. */
const ENGINE_ONLY: readonly TabName[] = ['tree', 'audit', 'streams']

/** Renders again only when the run or the URL changes, not every second. */
export const RunTabs = memo(function RunTabs(props: TimelineTabProps) {
  // The tabs show times, so a change of the zone renders them again.
  useUtc()
  const [get, set] = useQuery('run')
  const names = (Object.keys(TABS) as TabName[]).filter(name => !props.view.isBundle || !ENGINE_ONLY.includes(name))
  const wanted = get('tab') as TabName | undefined
  const active = wanted !== undefined && names.includes(wanted) ? wanted : 'timeline'
  const open = (name: string) => set({ tab: name === 'timeline' ? undefined : name })
  useKeys(
    'Tabs',
    names.map((name, i) => ({ keys: String(i + 1), label: TABS[name].label, run: () => open(name) })),
  )
  return (
    <Tabs
      label="Run details"
      tabs={names.map((name, i) => ({ name, label: TABS[name].label, keys: String(i + 1) }))}
      active={active}
      onOpen={open}
    >
      <Boundary key={active}>{TABS[active].show(props)}</Boundary>
    </Tabs>
  )
})
