// The page of one run: what it is, why it is in its state, where its time went, and its tabs.

import { useCallback, useState } from 'react'
import { useKeys } from '../../keys/keys.ts'
import { useNavigate, usePage, useQuery } from '../../router/router.tsx'
import { copyText } from '../../ui/overlay/copy.tsx'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Page } from '../../ui/states/page.tsx'
import { shortName } from '../../ui/visible-text.ts'
import { Actions, type OpenAction } from './actions/actions.tsx'
import { DiffPanel } from './diff-panel.tsx'
import { Header } from './header.tsx'
import { type RunView, useRun } from './model/use-run.ts'
import css from './page.module.css'
import { RunTabs } from './run-tabs.tsx'
import { StateBar } from './state-bar.tsx'
import { useDrawn } from './use-timeline.ts'
import { WhyView } from './why-view.tsx'

export default function RunPage() {
  const { params } = usePage()
  const id = params.id ?? ''
  // Another run is another page: zoom, folds and dialogs begin anew.
  return <OneRun key={id} id={id} />
}

function OneRun({ id }: { id: string }) {
  const { run, steps, view } = useRun(id)
  const [open, setOpen] = useState<OpenAction>()
  const title = run.data ? shortName(run.data.workflow) : `Run ${id.slice(-8)}`
  return (
    <Page
      title={title}
      windowTitle={run.data ? `${run.data.status} · ${title}` : title}
      actions={view && <Actions view={view} open={open} setOpen={setOpen} />}
    >
      <Loaded query={run}>
        {() => <Loaded query={steps}>{() => (view ? <RunBody view={view} onAction={setOpen} /> : null)}</Loaded>}
      </Loaded>
    </Page>
  )
}

function RunBody({ view, onAction }: { view: RunView; onAction(action: OpenAction): void }) {
  const [get, set] = useQuery('run')
  const go = useNavigate()
  const drawn = useDrawn(view)
  const retryFrom = useCallback((retry: string) => onAction({ retry }), [onAction])
  const source = get('diff')
  const { parentRunId, id } = view.run
  useKeys('Run', [
    { keys: 'c', label: 'copy the id', run: () => void copyText(id, 'Copied the id') },
    {
      keys: 'p',
      label: 'parent',
      run: () => parentRunId !== undefined && go({ to: 'run', params: { id: parentRunId } }),
    },
  ])
  return (
    <div className={css.run}>
      <Header view={view} />
      <WhyView view={view} onAction={onAction} onStep={step => set({ tab: undefined, step })} />
      <StateBar view={view} drawn={drawn} />
      {source !== undefined && <DiffPanel view={view} sourceId={source} />}
      <RunTabs view={view} drawn={drawn} onRetry={retryFrom} />
    </div>
  )
}
