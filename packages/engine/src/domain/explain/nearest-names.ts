// Names that an event may have been meant to have. Part of dry runs and of the explanation of an event.

import { nearestName } from '@perdure/protocol'
import type { CatalogView } from '../model/catalog.ts'

/** Maximum number of names that are near to one that no workflow knows. */
const NEAREST_MAX = 3
/** Maximum number of names that it is compared with. */
const COMPARED_MAX = 2000

/** The names of triggers that are near to the name, if no workflow has a trigger for it. */
export function nearestTo({ name }: { name: string }, catalog: CatalogView): { nearest?: string[] } {
  if (catalog.triggeredBy(name).length > 0) return {}
  const names = catalog
    .triggerNames()
    .filter(other => !other.endsWith('*'))
    .slice(0, COMPARED_MAX)
  const nearest: string[] = []
  while (nearest.length < NEAREST_MAX) {
    const next = nearestName(
      name,
      names.filter(other => !nearest.includes(other)),
    )
    if (next === undefined) break
    nearest.push(next)
  }
  return nearest.length === 0 ? {} : { nearest }
}
