// Workflows that are followed by cleanup runs, their steps, and the runs that follow.

import type { RunSummary } from '@perdure/protocol'
import { type Api, gate, type Handler, openRunner, run, StepFailure, unique, until } from '../../kit/index.ts'

/** A step that can be undone. Its result is its name unless another is given. */
export const undoable = (name: string, data: unknown = name) => run(name, () => data, { rollback: true })

/** A step that fails for good, and makes its run fail. */
export const breaks = run('break', () => {
  throw new StepFailure('it broke', { retriable: false })
})

/** A step that is under way from `begun` until `hold` opens. The first `failures` attempts fail instead. */
export function slow({ failures = 0, canBeUndone = true } = {}) {
  const [hold, begun] = [gate(), gate()]
  let tries = 0
  const execute = async () => {
    if (tries++ < failures) throw new Error('not yet')
    begun.open()
    await hold.opened
    return 'charged'
  }
  return { hold, begun, charge: run('charge', execute, canBeUndone ? { rollback: true } : {}) }
}

/** Registers workflows under new names at an engine, and finds the runs that follow a run. */
export function cleanups(api: Api, features: string[]) {
  const followers = async (runId: string, query = '') =>
    (await api.get(`/runs?parentRunId=${runId}${query}`)).json as (RunSummary & { kind?: string })[]
  return {
    async open(handler: Handler, registration: object = {}, known = features) {
      const name = unique('cleanup')
      const runner = await openRunner({ workflows: { [name]: { handler, registration: { ...registration } } } })
      await runner.register(api, { features: known })
      return { name, app: runner.app, runner }
    },
    followers,
    cleanupOf: (runId: string) =>
      until(async () => (await followers(runId, '&kind=cleanup'))[0], { what: 'the cleanup run' }),
  }
}
