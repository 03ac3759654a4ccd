// The page of one run: what it is, why it is in its state, how its time was spent, and its tabs.

import type { RunError } from '@perdure/protocol'
import { useCallback, useEffect, useState } from 'react'
import { useKeys } from '../../keys/keys.ts'
import { useNavigate, usePage, useQuery } from '../../router/router.tsx'
import { Button } from '../../ui/button.tsx'
import { copyText } from '../../ui/overlay/copy.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Page } from '../../ui/states/page.tsx'
import { shortName } from '../../ui/visible-text.ts'
import { Actions, type OpenAction } from './actions/actions.tsx'
import { DiffPanel } from './diff-panel.tsx'
import { Header } from './header.tsx'
import { ErrorText } from './model/error-text.tsx'
import { keepOrder, neighbourOf } from './model/run-order.ts'
import { type RunView, useRun } from './model/use-run.ts'
import css from './page.module.css'
import { RunTabs } from './run-tabs.tsx'
import { StateBar } from './state-bar.tsx'
import { useDrawn } from './use-timeline.ts'
import { WhyView } from './why-view.tsx'

export default function RunPage() {
  const { params } = usePage()
  const id = params.id ?? ''
  // Another run is another page: zoom, folds and dialogs start over.
  return <OneRun key={id} id={id} />
}

function OneRun({ id }: { id: string }) {
  const { run, steps, view } = useRun(id)
  useEffect(() => keepOrder(id), [id])
  const [open, setOpen] = useState<OpenAction>()
  const title = run.data ? shortName(run.data.workflow) : `Run ${id.slice(-8)}`
  return (
    <Page
      title={title}
      windowTitle={run.data ? `${run.data.status} · ${title}` : title}
      actions={
        view && (
          <>
            <Neighbours id={id} />
            <Actions view={view} open={open} setOpen={setOpen} />
          </>
        )
      }
    >
      <Loaded query={run}>
        {() => <Loaded query={steps}>{() => (view ? <RunBody view={view} onAction={setOpen} /> : null)}</Loaded>}
      </Loaded>
    </Page>
  )
}

/** Links to the neighbours of this run in the list that it was opened from. */
function Neighbours({ id }: { id: string }) {
  const go = useNavigate()
  const goTo = (by: 1 | -1) => {
    const next = neighbourOf(id, by)
    if (next === undefined) toast('No more runs in the list')
    else go({ to: 'run', params: { id: next } }, { replace: true })
  }
  useKeys('Run', [
    { keys: '{', label: 'previous run in the list', run: () => goTo(-1) },
    { keys: '}', label: 'next run in the list', run: () => goTo(1) },
  ])
  if (neighbourOf(id, -1) === undefined && neighbourOf(id, 1) === undefined) return null
  return (
    <span className={css.neighbours}>
      <Button
        kind="bare"
        aria-label="Previous run in the list"
        title="Previous run in the list ({)"
        onClick={() => goTo(-1)}
      >
        ↑
      </Button>
      <Button kind="bare" aria-label="Next run in the list" title="Next run in the list (})" onClick={() => goTo(1)}>
        ↓
      </Button>
    </span>
  )
}

/** Whether the run failed with an error that no step has: nothing below shows its stack. */
const hasLostStack = (view: RunView): view is RunView & { run: { error: RunError } } =>
  view.run.status === 'failed' && view.run.error?.stack !== undefined && view.run.error.stepName === undefined

function RunBody({ view, onAction }: { view: RunView; onAction(action: OpenAction): void }) {
  const [get, set] = useQuery('run')
  const go = useNavigate()
  const drawn = useDrawn(view)
  const retryFrom = useCallback((retry: string) => onAction({ retry }), [onAction])
  const source = get('diff')
  const { parentRunId, id } = view.run
  useKeys('Run', [
    { keys: 'c', label: 'copy ID', run: () => void copyText(id, 'ID copied') },
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
      {hasLostStack(view) && <ErrorText error={view.run.error} />}
      <StateBar view={view} drawn={drawn} />
      {source !== undefined && <DiffPanel view={view} sourceId={source} />}
      <RunTabs view={view} drawn={drawn} onRetry={retryFrom} />
    </div>
  )
}
