// Shows that something did not happen. A run that parks and wakes goes through the engine's queue of due work. Once it has ended,
// everything that was due before it has been sent too.

import { flow, step } from '../runner/steps.ts'
import { unique } from '../temp.ts'
import type { OpenEngine } from './engine-in-process.ts'

/** Opens a barrier: a function whose promise resolves when everything that is due now has been claimed. */
export async function openBarrier(engine: OpenEngine): Promise<() => Promise<void>> {
  const workflow = unique('barrier')
  const handler = flow([
    step('WaitForEvent', 'lift', ({ event }) => ({ eventName: event.data as string, timeoutMs: 86_400_000 })),
  ])
  const runner = await engine.runner({ workflows: { [workflow]: handler } })
  return async () => {
    const lift = unique('lift')
    const { runId } = await engine.api.send({ name: workflow, app: runner.app, data: lift })
    await engine.api.reaches(runId, 'waiting')
    await engine.api.send({ name: lift })
    await engine.api.succeeded(runId)
  }
}
