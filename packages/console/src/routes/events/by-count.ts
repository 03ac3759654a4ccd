// Orders event names by their counts. Pure.

import type { Item } from '../../data/queries.ts'

type Name = Item<'listEventNames'>

/** Returns names that have events, the most frequent first. A count such as `1000+` is larger than its number. */
export function byCount(names: readonly Pick<Name, 'name' | 'count'>[]): Pick<Name, 'name' | 'count'>[] {
  const numberOf = ({ count = 0 }: Pick<Name, 'count'>) =>
    typeof count === 'number' ? count : Number.parseInt(count, 10) + 1
  return names.filter(each => numberOf(each) > 0).sort((a, b) => numberOf(b) - numberOf(a))
}
