// The tabs of a run. The timeline is loaded with the page; the others are small and share its chunk.

import { lazy, memo, Suspense } from 'react'
import { useUtc } from '../../data/time/zone.ts'
import { useKeys } from '../../keys/keys.ts'
import { useQuery } from '../../router/router.tsx'
import { Waiting } from '../../ui/states/loaded.tsx'
import { Boundary } from '../../ui/states/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import type { RunView } from './model/use-run.ts'
import { AuditTab } from './tabs/audit-tab.tsx'
import { IoTab } from './tabs/io-tab.tsx'
import { LogsTab } from './tabs/logs-tab.tsx'
import { PassesTab } from './tabs/passes-tab.tsx'
import { RawTab } from './tabs/raw-tab.tsx'
import { TreeTab } from './tabs/tree-tab.tsx'
import { TimelineTab } from './timeline-tab.tsx'
import type { Drawn } from './use-timeline.ts'

const StreamsTab = lazy(() => import('./streams/streams-tab.tsx'))

const TABS = {
  timeline: 'Timeline',
  logs: 'Logs',
  io: 'Input and result',
  tree: 'Tree',
  passes: 'Passes',
  audit: 'Audit',
  raw: 'Raw',
  streams: 'Streams',
} as const
type TabName = keyof typeof TABS

/** Tabs that need more data from the engine than a bundle has. */
const ENGINE_ONLY: readonly TabName[] = ['tree', 'audit', 'streams']

export interface RunTabsProps {
  view: RunView
  drawn: Drawn
  onRetry(stepName: string): void
}

/** Renders again only when the run or the URL changes, not every second. */
export const RunTabs = memo(function RunTabs({ view, drawn, onRetry }: RunTabsProps) {
  // The tabs show times, so a change of the zone renders them again.
  useUtc()
  const [get, set] = useQuery('run')
  const names = (Object.keys(TABS) as TabName[]).filter(name => !view.isBundle || !ENGINE_ONLY.includes(name))
  const wanted = get('tab') as TabName | undefined
  const active = wanted !== undefined && names.includes(wanted) ? wanted : 'timeline'
  const open = (name: string) => set({ tab: name === 'timeline' ? undefined : name })
  useKeys(
    'Tabs',
    names.map((name, i) => ({ keys: String(i + 1), label: TABS[name], run: () => open(name) })),
  )
  return (
    <Tabs
      label="Run details"
      tabs={names.map((name, i) => ({ name, label: TABS[name], keys: String(i + 1) }))}
      active={active}
      onOpen={open}
    >
      <Boundary key={active}>{contentOf(active, { view, drawn, onRetry })}</Boundary>
    </Tabs>
  )
})

function contentOf(tab: TabName, { view, drawn, onRetry }: RunTabsProps) {
  switch (tab) {
    case 'timeline':
      return <TimelineTab view={view} drawn={drawn} onRetry={onRetry} />
    case 'logs':
      return <LogsTab view={view} />
    case 'io':
      return <IoTab view={view} />
    case 'tree':
      return <TreeTab view={view} />
    case 'passes':
      return <PassesTab view={view} />
    case 'audit':
      return <AuditTab runId={view.run.id} />
    case 'raw':
      return <RawTab view={view} />
    case 'streams':
      return (
        <Suspense fallback={<Waiting rows={4} />}>
          <StreamsTab view={view} />
        </Suspense>
      )
  }
}
