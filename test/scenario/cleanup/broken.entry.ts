// Steps of runs that are cleaned up after.

import { run, StepFailure } from '../../kit/index.ts'

/** A step that can be undone, with its name as its result unless another is given. */
export const undoable = (name: string, data: unknown = name) => run(name, () => data, { rollback: true })

/** A step that fails for good, and its run with it. */
export const breaks = run('break', () => {
  throw new StepFailure('it broke', { retriable: false })
})
