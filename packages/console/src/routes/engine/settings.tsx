// The settings of the engines that are not secret, and the progress of retention. Parts of the page of the engine.

import type { Calls } from '@perdure/client'
import { Facts } from '../../ui/facts.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Panel } from '../../ui/states/page.tsx'
import { type Column, DataTable } from '../../ui/table/data-table.tsx'
import { WholeRows } from '../../ui/table/whole-rows.tsx'
import css from './engine.module.css'
import { type SettingRow, settingsRows } from './settings-rows.ts'

type Engine = Calls['listEngines']['reply'][number]

const COLUMNS: readonly Column<SettingRow>[] = [
  { id: 'name', header: 'Setting', width: '224px', render: ({ name }) => <code title={name}>{name}</code> },
  { id: 'value', header: 'Value', render: row => <Value of={row} /> },
]

export function Settings({ engines }: { engines: readonly Engine[] }) {
  const rows = settingsRows(engines)
  if (rows.length === 0) return null
  const count = rows.filter(({ values }) => values.length > 1).length
  return (
    <Panel title="Settings" isFlush>
      {count > 0 && (
        <p role="note" className={css.warning}>
          ⚠ Engines differ in {count === 1 ? 'a setting' : `${count} settings`}.
        </p>
      )}
      <WholeRows count={rows.length}>
        <DataTable label="Settings" columns={COLUMNS} rows={rows} keyOf={({ name }) => name} isDense />
      </WholeRows>
    </Panel>
  )
}

function Value({ of: { values } }: { of: SettingRow }) {
  const [first] = values
  if (values.length < 2) return <code title={first?.value}>{first?.value}</code>
  const text = values.map(({ value, engines }) => `${value} (${engines.join(', ')})`).join('; ')
  return <span title={text}>⚠ {text}</span>
}

const ROWS = [
  ['runs', 'Runs'],
  ['events', 'Events'],
  ['deliveries', 'Deliveries'],
] as const

/** The progress belongs to the store: any engine that knows it will do. */
export function Retention({ engines }: { engines: readonly Engine[] }) {
  const marks = engines.find(({ removedUpTo }) => removedUpTo !== undefined)?.removedUpTo
  if (!marks) return null
  return (
    <Panel title="Retention">
      <Facts
        facts={ROWS.map(([of, name]) => [
          `${name} removed up to`,
          marks[of] === undefined ? 'none yet' : <Moment key={of} at={marks[of]} />,
        ])}
      />
    </Panel>
  )
}
