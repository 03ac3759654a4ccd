// Spending that is reported after the end of the run, on both databases (docs/budgets.md): it counts once, whether or not the
// step is stored.

import type { RunSummary } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { violationsIn } from '../../kit/engine/violations.ts'
import {
  discovered,
  gate,
  type Invoke,
  opcode,
  openKeyed,
  openRunner,
  STORES,
  undoing,
  unique,
  until,
} from '../../kit/index.ts'

const FEATURES = { features: ['budgets', 'cleanup', 'http-checkpoints'] }

type Opcode = ReturnType<typeof opcode>

const spends = (name: string, usd: number, more: object = {}): Opcode =>
  opcode('StepRun', name, { data: 1, spent: { usd }, ...more })

/** Reports steps of a pass that continues. */
async function report(ctx: Invoke['ctx'], seq: number, opcodes: readonly Opcode[]): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ seq, opcodes, logs: [] })
  await fetch(ctx.checkpointUrl as string, { method: 'POST', headers, body })
}

describe.each(STORES)('on %s', async (_, freshStore) => {
  const { api, engine } = await openKeyed(freshStore)

  /** A run whose pass is under way until the gate opens, and then answers with the steps. */
  async function holding(answer: (invoke: Invoke) => Promise<readonly Opcode[]> | readonly Opcode[]) {
    const [hold, begun] = [gate(), gate()]
    const name = unique('late')
    const handler = undoing(async invoke => {
      begun.open()
      await hold.opened
      return discovered([...(await answer(invoke))])
    })
    const runner = await openRunner({ workflows: { [name]: { handler, registration: { budget: { usd: 9 } } } } })
    await runner.register(api, FEATURES)
    const { runId } = await api.send({ name })
    await begun.opened
    return { runId, hold, invoke: runner.record.of(runId)[0] as Invoke }
  }

  const spent = async (runId: string) => (await api.run(runId)).budget?.usd?.spent
  const spentBecomes = (runId: string, usd: number) =>
    until(async () => (await spent(runId)) === usd, { what: `spends of ${usd}` })
  const cleanedUp = (runId: string) =>
    until(
      async () => {
        const [run] = (await api.get(`/runs?parentRunId=${runId}&kind=cleanup`)).json as RunSummary[]
        return run?.status === 'succeeded'
      },
      { what: 'the end of the cleanup run' },
    )

  test('an answer after a cancel counts although no step of it is stored, and so does a failed attempt', async () => {
    const error = { data: undefined, error: { message: 'no' } }
    const { runId, hold } = await holding(() => [spends('a', 0.5), spends('b', 0.25, error)])
    await api.post(`/runs/${runId}/cancel`)
    hold.open()
    await spentBecomes(runId, 0.75)
    expect(await api.steps(runId)).toEqual([])
    expect((await api.run(runId)).status).toBe('cancelled')
  })

  test('steps that are stored after a cancel, to be undone, count with those beside them', async () => {
    const error = { data: undefined, error: { message: 'no' } }
    const { runId, hold } = await holding(() => [
      spends('a', 0.5),
      spends('b', 0.25, { rollback: true }),
      spends('c', 0.125, error),
    ])
    await api.post(`/runs/${runId}/cancel`)
    hold.open()
    await cleanedUp(runId)
    expect(await spent(runId)).toBe(0.875)
    expect((await api.steps(runId)).map(({ name }) => name)).toEqual(['a', 'b'])
  })

  test.each([
    ['without anything to undo', {}],
    ['that stores a step', { rollback: true }],
  ])('a checkpoint after a cancel, %s, counts once, although the runner repeats it', async (_, more) => {
    const { runId, hold } = await holding(async ({ ctx }) => {
      const opcodes = [spends('a', 0.5, more), spends('failed', 2, { data: undefined, error: { message: 'no' } })]
      for (const seq of [1, 2]) await report(ctx, seq, opcodes)
      return [...opcodes, spends('z', 0.25)]
    })
    await api.post(`/runs/${runId}/cancel`)
    hold.open()
    await spentBecomes(runId, 2.75)
  })

  test('a failed attempt that a checkpoint reported before the cancel counts once, although the answer repeats it', async () => {
    const failed = spends('failed', 2, { data: undefined, error: { message: 'no' } })
    const { runId, hold } = await holding(async ({ ctx }) => {
      await report(ctx, 1, [failed])
      await api.post(`/runs/${ctx.runId}/cancel`)
      return [failed, spends('z', 0.25)]
    })
    hold.open()
    await spentBecomes(runId, 2.25)
  })

  test('a cancel that ends the pass counts nothing of it', async () => {
    const { runId, hold, invoke } = await holding(() => [spends('a', 0.5)])
    await api.post(`/runs/${runId}/cancel`, { cleanup: false })
    await until(() => invoke.signal.aborted, { what: 'the end of the call' })
    hold.open()
    expect(await spent(runId)).toBe(0)
  })

  test('after all of that, verify finds every sum that the engine counts as it must be', async () => {
    expect(await violationsIn(engine.storeFile)).toEqual([])
  })
})
