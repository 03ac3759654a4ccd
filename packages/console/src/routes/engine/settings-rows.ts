// The settings of all engines of a store, one row per name, so that differing engines stand out. Pure.

import type { Calls } from '@perdure/client'

type Engine = Pick<Calls['listEngines']['reply'][number], 'id' | 'settings'>

export interface SettingRow {
  name: string
  /** Each value, with the engines that have it. One value, unless the engines differ. */
  values: { value: string; engines: string[] }[]
}

/** Returns the rows in alphabetical order, but settings that differ come first. */
export function settingsRows(engines: readonly Engine[]): SettingRow[] {
  const rows = new Map<string, SettingRow>()
  for (const { id, settings = {} } of engines) {
    for (const [name, value] of Object.entries(settings)) {
      const row = rows.get(name) ?? { name, values: [] }
      const known = row.values.find(each => each.value === value)
      if (known) known.engines.push(id)
      else row.values.push({ value, engines: [id] })
      rows.set(name, row)
    }
  }
  const differs = ({ values }: SettingRow) => Number(values.length > 1)
  return [...rows.values()].sort((a, b) => differs(b) - differs(a) || (a.name < b.name ? -1 : 1))
}
