// The bar for selected runs: the selected rows, or all runs that match the filters, and the actions on them.

import type { Input } from '@perdure/client'
import type { BulkPreview } from '@perdure/protocol'
import { type RefObject, useLayoutEffect, useRef, useState } from 'react'
import { type Item, useWrite } from '../../../data/queries.ts'
import { Button, WriteButton } from '../../../ui/button.tsx'
import { toast } from '../../../ui/overlay/toasts.tsx'
import styles from '../runs.module.css'
import { ACTIONS, BULK_ACTIONS, type BulkAction, grouped, runsText } from './actions.ts'
import { BulkDialog } from './bulk-dialog.tsx'
import { type BulkFilter, bulkFilter } from './filter.ts'

/** Most runs that a bulk job takes by id. */
const IDS_MAX = 1000

export interface SelectionBarProps {
  /** The selected rows that are loaded. */
  runs: readonly Item<'listRuns'>[]
  ids: readonly string[]
  /** The read of the list. */
  input: Input<'listRuns'>
  onClear(): void
}

/** All runs that a filter matched when they were counted. */
interface All {
  filter: BulkFilter
  count: number
}

export default function SelectionBar({ runs, ids, input, onClear }: SelectionBarProps) {
  const [all, setAll] = useState<All>()
  const [chosen, setChosen] = useState<BulkAction>()
  const count = useWrite('startBulk')
  const bar = useRef<HTMLDivElement>(null)
  useHeight(bar)
  const found = bulkFilter(input)
  const selectAll = (filter: BulkFilter) =>
    count.mutate(
      { body: { action: 'cancel', filter, dryRun: true } },
      {
        onSuccess: counted => setAll({ filter, count: (counted as unknown as BulkPreview).matched }),
        onError: error => toast(error.message, { isError: true }),
      },
    )
  const tooMany = all === undefined && ids.length > IDS_MAX ? `at most ${grouped(IDS_MAX)} rows: select all` : undefined
  const whyNot = (action: BulkAction) =>
    all !== undefined || runs.some(ACTIONS[action].fits) ? tooMany : 'no selected run is in a state for it'
  return (
    <div ref={bar} data-at-end="" className={styles.selected}>
      <span role="status">{all ? `All ${runsText(all.count)} that match` : `${runsText(ids.length)} selected`}</span>
      {all === undefined && (
        <WriteButton
          kind="bare"
          disabledBecause={'because' in found ? found.because : undefined}
          onClick={() => 'filter' in found && selectAll(found.filter)}
        >
          {count.isPending ? 'Counting…' : 'Select all that match'}
        </WriteButton>
      )}
      {BULK_ACTIONS.map(action => (
        <WriteButton key={action} disabledBecause={whyNot(action)} onClick={() => setChosen(action)}>
          {ACTIONS[action].label}…
        </WriteButton>
      ))}
      <Button kind="bare" onClick={onClear}>
        Clear
      </Button>
      {chosen && (
        <BulkDialog
          action={chosen}
          target={all ? { filter: all.filter } : { ids: [...ids] }}
          onClose={() => setChosen(undefined)}
        />
      )}
    </div>
  )
}

/** Sets the height of the bar as a variable, for what floats above the page. */
function useHeight(bar: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const { style } = document.documentElement
    const observer = new ResizeObserver(() => style.setProperty('--selection-height', `${bar.current?.offsetHeight}px`))
    if (bar.current) observer.observe(bar.current)
    return () => {
      observer.disconnect()
      style.removeProperty('--selection-height')
    }
  }, [bar])
}
