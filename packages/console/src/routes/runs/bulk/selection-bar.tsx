// The bar for selected runs: the selected rows, or all runs that match the filters, and the actions for them.

import type { Input } from '@perdure/client'
import type { BulkPreview } from '@perdure/protocol'
import { useState } from 'react'
import type { Item } from '../../../data/queries.ts'
import { useWrite } from '../../../data/write.ts'
import { WriteButton } from '../../../ui/button.tsx'
import { toastError } from '../../../ui/overlay/toasts.tsx'
import { SelectionToolbar } from '../../../ui/selection/bar.tsx'
import { ACTIONS, BULK_ACTIONS, type BulkAction, grouped, runsText } from './actions.ts'
import { BulkDialog } from './bulk-dialog.tsx'
import { bulkFilter, type JobFilter } from './filter.ts'

/** Maximum number of runs that a bulk job accepts by id. */
const IDS_MAX = 1000

export interface SelectionBarProps {
  /** The selected rows that are loaded. */
  runs: readonly Item<'listRuns'>[]
  ids: readonly string[]
  /** The input of the list. */
  input: Input<'listRuns'>
  onClear(): void
}

/** All runs that a filter matched when they were counted. */
interface All {
  filter: JobFilter
  count: number
}

export default function SelectionBar({ runs, ids, input, onClear }: SelectionBarProps) {
  const [all, setAll] = useState<All>()
  const [chosen, setChosen] = useState<BulkAction>()
  const count = useWrite('startBulk')
  const found = bulkFilter(input)
  const selectAll = (filter: JobFilter) =>
    count.mutate(
      { body: { action: 'cancel', filter, dryRun: true } },
      {
        onSuccess: counted => setAll({ filter, count: (counted as unknown as BulkPreview).matched }),
        onError: toastError,
      },
    )
  const tooMany = all === undefined && ids.length > IDS_MAX ? `at most ${grouped(IDS_MAX)} rows: select all` : undefined
  const whyNot = (action: BulkAction) =>
    all !== undefined || runs.some(ACTIONS[action].fits) ? tooMany : 'not possible for any selected run'
  return (
    <SelectionToolbar
      text={all ? `All ${runsText(all.count)} matching` : `${runsText(ids.length)} selected`}
      onClear={onClear}
    >
      {all === undefined && (
        <WriteButton
          kind="bare"
          disabledBecause={'because' in found ? found.because : undefined}
          onClick={() => 'filter' in found && selectAll(found.filter)}
        >
          {count.isPending ? 'Counting…' : 'Select all matching'}
        </WriteButton>
      )}
      {BULK_ACTIONS.map(action => (
        <WriteButton
          key={action}
          startsRuns={ACTIONS[action].startsRuns === true}
          disabledBecause={whyNot(action)}
          onClick={() => setChosen(action)}
        >
          {ACTIONS[action].label}…
        </WriteButton>
      ))}
      {chosen && (
        <BulkDialog
          action={chosen}
          target={all ? { filter: all.filter } : { ids: [...ids] }}
          onClose={() => setChosen(undefined)}
        />
      )}
    </SelectionToolbar>
  )
}
