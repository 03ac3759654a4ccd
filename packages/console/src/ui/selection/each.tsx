// The bar of actions on each selected row: one dialog asks before an action, and a message shows its outcome.

import type { Calls, Input } from '@perdure/client'
import { type ReactNode, useState } from 'react'
import type { Call } from '../../data/commands/request.ts'
import type { ReadId } from '../../data/queries.ts'
import { EACH_MAX, writeEach } from '../../data/write-each.ts'
import { WriteButton } from '../button.tsx'
import { Confirm } from '../overlay/dialog.tsx'
import { toast } from '../overlay/toasts.tsx'
import { SelectionToolbar } from './bar.tsx'

/** An action on each row of a list. */
export interface EachAction<Row> {
  /** A verb: "Redeliver". */
  label: string
  /** The effect, as sentences. */
  sentence: ReactNode
  id: ReadId
  inputOf(row: Row): Input<ReadId>
  /** Whether the action is possible in the row's state; if absent, always. */
  fits?(row: Row): boolean
}

export interface EachBarProps<Row> {
  /** The selected rows that are loaded. */
  rows: readonly Row[]
  /** The singular and the plural: "delivery", "deliveries". */
  nouns: readonly [string, string]
  actions: readonly EachAction<Row>[]
  /** The reads that show the rows. */
  renews: readonly (keyof Calls)[]
  /** Why none of the actions is possible now. */
  disabledBecause?: string | undefined
  onClear(): void
}

export function EachBar<Row>({ rows, nouns, actions, renews, disabledBecause, onClear }: EachBarProps<Row>) {
  const [chosen, setChosen] = useState<EachAction<Row>>()
  const textOf = (count: number) => `${count} ${nouns[count === 1 ? 0 : 1]}`
  const rowsOf = ({ fits = () => true }: EachAction<Row>) => rows.filter(fits)
  const whyNot = (action: EachAction<Row>) => {
    if (rows.length > EACH_MAX) return `at most ${EACH_MAX} rows at once`
    return rowsOf(action).length > 0 ? undefined : 'not possible for any selected row'
  }
  return (
    <SelectionToolbar text={`${textOf(rows.length)} selected`} onClear={onClear}>
      {actions.map(action => (
        <WriteButton
          key={action.label}
          disabledBecause={disabledBecause ?? whyNot(action)}
          onClick={() => setChosen(action)}
        >
          {action.label}…
        </WriteButton>
      ))}
      {chosen && (
        <Confirm
          title={`${chosen.label} ${textOf(rowsOf(chosen).length)}?`}
          action={`${chosen.label} ${rowsOf(chosen).length}`}
          call={rowsOf(chosen).map(row => ({ id: chosen.id, input: chosen.inputOf(row) }) as Call)}
          onConfirm={() => void act(chosen, { rows: rowsOf(chosen), renews, textOf })}
          onClose={() => setChosen(undefined)}
        >
          {chosen.sentence}
        </Confirm>
      )}
    </SelectionToolbar>
  )
}

interface Acted<Row> extends Pick<EachBarProps<Row>, 'rows' | 'renews'> {
  textOf(count: number): string
}

async function act<Row>({ id, label, inputOf }: EachAction<Row>, { rows, renews, textOf }: Acted<Row>): Promise<void> {
  const { done, refused, message } = await writeEach(id, rows.map(inputOf), { renews })
  toast(`${label}: ${textOf(done)} done`)
  if (refused > 0) toast(`${label}: ${textOf(refused)} refused: ${message}`, { isError: true })
}
