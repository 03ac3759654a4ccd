// A run from a file: a bundle that a colleague sent, shown like a run of the engine. None of its data leaves the tab.

import { type DragEvent, useRef, useState } from 'react'
import { Polite } from '../../ui/overlay/polite.tsx'
import { Page } from '../../ui/states/page.tsx'
import { shortName } from '../../ui/visible-text.ts'
import { Header } from '../run/header.tsx'
import { RunTabs } from '../run/run-tabs.tsx'
import { StateBar } from '../run/state-bar.tsx'
import { useDrawn } from '../run/use-timeline.ts'
import { openBundle } from './open-bundle.ts'
import css from './page.module.css'
import type { BundleView } from './read-bundle.ts'

export default function BundlePage() {
  const [view, setView] = useState<BundleView>()
  const [fault, setFault] = useState<string>()
  const [isReading, setReading] = useState(false)
  const newest = useRef<File>(undefined)
  const open = async (file: File | undefined) => {
    if (!file) return
    newest.current = file
    setReading(true)
    setFault(undefined)
    const { found, reason } = await openBundle(file).then(
      view => ({ found: view, reason: undefined }),
      (error: Error) => ({ found: undefined, reason: error.message }),
    )
    // Another file was chosen in the meantime.
    if (newest.current !== file) return
    setReading(false)
    if (found) setView(found)
    setFault(reason)
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
            ? 'This run comes from a file. Drop another file here, or choose one:'
            : 'Drop a bundle here, or choose a file. It stays in this tab.'}
        </p>
        <input
          type="file"
          accept=".json,application/json"
          aria-label="Bundle file"
          onChange={event => void open(event.target.files?.[0])}
        />
        {!view && <p className={css.how}>To save one, open the Raw tab of a run.</p>}
        {isReading && (
          <p aria-busy="true">
            <Polite text="Reading the file…" />
          </p>
        )}
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

/** A bundle cannot be retried, and offers no button for it. */
const nothing = () => {}

function BundleBody({ view }: { view: BundleView }) {
  const drawn = useDrawn(view)
  return (
    <div className={css.run}>
      <Header view={view} />
      {view.truncatedIn !== undefined && (
        <p role="note" className={css.how}>
          The file is incomplete: section {shortName(view.truncatedIn)} was cut off.
        </p>
      )}
      <StateBar view={view} drawn={drawn} />
      <RunTabs view={view} drawn={drawn} onRetry={nothing} />
    </div>
  )
}
