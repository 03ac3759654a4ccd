// A run from a file: a bundle that a colleague sent, shown like a run of the engine. Nothing of it leaves the tab.

import { type DragEvent, useState } from 'react'
import { Page } from '../../ui/states/page.tsx'
import { shortName } from '../../ui/visible-text.ts'
import { Header } from '../run/header.tsx'
import { RunTabs } from '../run/run-tabs.tsx'
import { StateBar } from '../run/state-bar.tsx'
import { useDrawn } from '../run/use-timeline.ts'
import css from './page.module.css'
import { type BundleView, readBundle } from './read-bundle.ts'

/** Larger files are refused before they are read. */
const BYTES_MAX = 64 * 1024 * 1024

export default function BundlePage() {
  const [view, setView] = useState<BundleView>()
  const [fault, setFault] = useState<string>()
  const open = async (file: File | undefined) => {
    if (!file) return
    try {
      if (file.size > BYTES_MAX) throw new Error('The file is larger than 64 MiB.')
      setView(readBundle(await file.text()))
      setFault(undefined)
    } catch (error) {
      setFault((error as Error).message)
    }
  }
  const drop = {
    onDragOver: (event: DragEvent) => event.preventDefault(),
    onDrop: (event: DragEvent) => {
      event.preventDefault()
      void open(event.dataTransfer.files[0])
    },
  }
  const title = view ? shortName(view.run.workflow) : 'Bundle'
  return (
    <Page title={title} windowTitle={view ? `${view.run.status} · ${title} · bundle` : title}>
      <section className={css.drop} aria-label="Bundle" data-small={view !== undefined || undefined} {...drop}>
        <p>
          {view
            ? 'This run is shown from a file. Drop another one here, or choose it:'
            : 'Drop a bundle here, or choose it. It is read in this tab and sent nowhere.'}
        </p>
        <input
          type="file"
          accept=".json,application/json"
          aria-label="Bundle file"
          onChange={event => void open(event.target.files?.[0])}
        />
        {!view && <p className={css.how}>The tab Raw of a run saves one.</p>}
        {fault !== undefined && (
          <p role="alert" className={css.fault}>
            {fault}
          </p>
        )}
      </section>
      {view && <BundleBody key={view.run.id} view={view} />}
    </Page>
  )
}

/** A bundle cannot be retried, and offers no way to. */
const nothing = () => {}

function BundleBody({ view }: { view: BundleView }) {
  const drawn = useDrawn(view)
  return (
    <div className={css.run}>
      <Header view={view} />
      {view.truncatedIn !== undefined && (
        <p role="note" className={css.how}>
          The file is not whole: its section {shortName(view.truncatedIn)} was cut off.
        </p>
      )}
      <StateBar view={view} drawn={drawn} />
      <RunTabs view={view} drawn={drawn} onRetry={nothing} />
    </div>
  )
}
