// Plans how the write function executes a batch: in sections of units that are written together, with one statement for each kind
// of check and operation, and in sections that are written unit by unit. Both have the same outcome: no unit of a section depends
// on a change by an earlier one. If one of its checks does not hold, the section is written unit by unit.

import type { UnitRequest } from '../../batches/requests.ts'
import type { Value } from '../../description/values.ts'
import {
  type Dependency,
  GROUPED_CHECKS,
  GROUPED_OPERATIONS,
  type GroupedCheck,
  type GroupedOperation,
} from './dependencies.ts'

const CHECK_INDEX: ReadonlyMap<Value, number> = new Map(Object.keys(GROUPED_CHECKS).map((name, i) => [name, i]))
const OPERATION_INDEX: ReadonlyMap<Value, number> = new Map(
  Object.keys(GROUPED_OPERATIONS).map((name, i) => [name, CHECK_INDEX.size + i]),
)
const LISTS = CHECK_INDEX.size + OPERATION_INDEX.size
const EVENT_INSERTS = OPERATION_INDEX.get('event.insert') as number
const RUN_INSERTS = OPERATION_INDEX.get('run.insert') as number
/** Checks that many units of a batch have with the same values: those of an event name, and the catalog's. */
const REPEATED: ReadonlySet<Value> = new Set<GroupedCheck>([
  'watchers',
  'plainWatchers',
  'noWatchPaths',
  'noWaiters',
  'catalog',
])

/** Fewer units, with fewer values, have too little to share: one by one they cost the server less. */
const TOGETHER_MIN = 4
const TOGETHER_VALUES_MIN = 1000

interface Section {
  /** Positions of the units in the batch's array, from 1. */
  first: number
  last: number
  /** Number of units that are written together; 0: unit by unit. */
  together: number
  /** For each check and operation, the positions of its parameters. */
  lists: number[][]
  /** For each inserted run, the number of events before it. */
  eventsBefore: number[]
  /** Keys of the rows that its units change. */
  changed: Set<string>
  /** For each check in `REPEATED`, its last occurrence. */
  repeated: Map<Value, { unit: UnitRequest; at: number }>
}

/** One list of the sections: for each its first and last position, the units together, its length, and its lists. */
export function planOf(units: readonly UnitRequest[]): number[] {
  const isLarge = () => units.some(unit => unit.length >= TOGETHER_VALUES_MIN)
  if (units.length < TOGETHER_MIN && !isLarge()) return planUnitByUnit(units)
  const sections: Section[] = []
  let position = 1
  for (const unit of units) {
    const last = position + unit.length
    const section = sections.at(-1)
    if (!section || section.together === 0 || !join(section, unit, position)) {
      const fresh = newSection(position)
      if (join(fresh, unit, position)) sections.push(fresh)
      else if (section?.together !== 0) sections.push(fresh)
    }
    ;(sections.at(-1) as Section).last = last
    position = last + 1
  }
  return sections.flatMap(written)
}

/** Plans the whole batch unit by unit. */
export function planUnitByUnit(units: readonly UnitRequest[]): number[] {
  return [1, units.reduce((sum, unit) => sum + unit.length + 1, 0), 0, 4]
}

function newSection(first: number): Section {
  return {
    first,
    last: first,
    together: 0,
    lists: Array.from({ length: LISTS }, () => []),
    eventsBefore: [],
    changed: new Set(),
    repeated: new Map(),
  }
}

function written({ first, last, together, lists, eventsBefore }: Section): number[] {
  if (together === 0) return [first, last, 0, 4]
  const section = [first, last, together, 0]
  for (const [i, list] of lists.entries()) {
    section.push(list.length, ...list)
    if (i === RUN_INSERTS) section.push(...eventsBefore)
  }
  section[3] = section.length
  return section
}

/** Adds the unit to those that are written together. Returns false and adds nothing if it cannot be. */
function join(section: Section, unit: UnitRequest, position: number): boolean {
  const found: { index: number; at: number; name: Value }[] = []
  const changes: string[] = []
  const isFree = (dependency: Dependency) => {
    for (const key of dependency.reads) if (section.changed.has(key) || changes.includes(key)) return false
    changes.push(...dependency.changes)
    return true
  }
  let at = 1
  for (let checks = unit[0] as number; checks > 0; checks--) {
    const [name, params, expected] = unit.slice(at, at + 3) as [GroupedCheck, number, number]
    const index = CHECK_INDEX.get(name)
    if (index === undefined) return false
    at += 3
    if (!isFree(GROUPED_CHECKS[name](unit, at))) return false
    found.push({ index, at, name })
    at += params + expected
  }
  while (at < unit.length) {
    const name = unit[at + 1] as GroupedOperation
    const index = OPERATION_INDEX.get(name)
    if (index === undefined || !isFree(GROUPED_OPERATIONS[name](unit, at + 2))) return false
    found.push({ index, at: at + 2, name })
    at += 2 + (unit[at] as number)
  }
  for (const { index, at, name } of found) {
    if (REPEATED.has(name) && repeats(section, { name, unit, at })) continue
    if (index === RUN_INSERTS) section.eventsBefore.push((section.lists[EVENT_INSERTS] as number[]).length)
    ;(section.lists[index] as number[]).push(position + 1 + at)
  }
  for (const key of changes) section.changed.add(key)
  section.together++
  return true
}

/** Whether the section's last check of this name has the same values. */
function repeats({ repeated }: Section, { name, unit, at }: { name: Value; unit: UnitRequest; at: number }): boolean {
  const before = repeated.get(name)
  repeated.set(name, { unit, at })
  if (!before) return false
  const count = (unit[at - 2] as number) + (unit[at - 1] as number)
  for (let i = 0; i < count; i++) if (unit[at + i] !== before.unit[before.at + i]) return false
  return true
}
