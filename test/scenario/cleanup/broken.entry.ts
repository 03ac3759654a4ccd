// Steps of runs that are followed by cleanup runs.

import { run, StepFailure } from '../../kit/index.ts'

/** A step that can be undone. Its result is its name unless another is given. */
export const undoable = (name: string, data: unknown = name) => run(name, () => data, { rollback: true })

/** A step that fails for good, and makes its run fail. */
export const breaks = run('break', () => {
  throw new StepFailure('it broke', { retriable: false })
})
