// The names of a run's steps in the form that `runs retry --step` takes: from its second use on, a name has its number.

import { hashStepId, positionalStepId, type StepRecord } from '@perdure/protocol'

/** Most uses of a name that may be missing among the steps: steps that have not settled yet, or are called "poll:1". */
const MISSING_MAX = 100

/** The names by id: `poll`, `poll:1`, `poll:2`. A step whose id is not the hash of such a name has its plain name. */
export function stepNames(steps: readonly Pick<StepRecord, 'id' | 'name'>[]): Map<string, string> {
  const ids = new Map<string, Set<string>>()
  for (const { id, name } of steps) {
    const of = ids.get(name)
    if (of) of.add(id)
    else ids.set(name, new Set([id]))
  }
  const names = new Map(steps.map(({ id, name }) => [id, name]))
  for (const [name, open] of ids) {
    const uses = open.size + MISSING_MAX
    for (let use = 0; use < uses && open.size > 0; use++) {
      const positional = positionalStepId(name, use)
      const id = hashStepId(positional)
      if (open.delete(id)) names.set(id, positional)
    }
  }
  return names
}
