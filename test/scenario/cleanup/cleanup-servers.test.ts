// Cleanup runs on both databases (docs/concepts.md#cleanup-runs): when there is one, what it gets, and what it does not change.

import type { StepRecord } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { child, flow, openKeyed, run, STORES, sleep, stepId, undoing, until, wait } from '../../kit/index.ts'
import { breaks, cleanups, undoable } from './cleanup.entry.ts'

describe.each(STORES)('on %s', async (_, freshStore) => {
  const { api } = await openKeyed(freshStore)
  const { open, followers, cleanupOf } = cleanups(api, ['cleanup', 'memo-op'])
  const namesOf = async (runId: string) => (await api.steps(runId)).map(({ name }) => name)

  test('the rollbacks of a failed run are run in reverse order, in a run that gets its event, memo and error', async () => {
    const stages = [undoable('reserve', { seats: 2 }), run('tell'), undoable('charge', { cents: 5 }), breaks]
    const undone: unknown[] = []
    const { name, runner } = await open(undoing(flow(stages), { undo: (step, data) => undone.push([step, data]) }))
    const { runId, eventId } = await api.send({ name, data: { n: 1 } })
    const failed = await api.failed(runId)
    const { id } = await cleanupOf(runId)
    const cleaned = await api.succeeded(id)
    expect(cleaned).toMatchObject({ kind: 'cleanup', workflow: name, parentRunId: runId, input: { n: 1 } })
    expect(undone).toEqual([
      ['charge', { cents: 5 }],
      ['reserve', { seats: 2 }],
    ])
    expect(await namesOf(id)).toEqual(['rollback:charge', 'rollback:reserve'])
    const [invoke] = runner.record.of(id)
    expect(invoke?.event).toEqual({ id: eventId, name, data: { n: 1 } })
    expect(invoke?.steps).toEqual({})
    expect(invoke?.ctx.cleanup).toMatchObject({ runId, status: 'failed', error: { message: 'it broke' } })
    expect(Object.keys(invoke?.ctx.cleanup?.steps ?? {})).toEqual(['reserve', 'tell', 'charge', 'break'].map(stepId))
    expect(invoke?.ctx.cleanup?.steps[stepId('reserve')]).toEqual({
      op: 'StepRun',
      name: 'reserve',
      rollback: true,
      data: { seats: 2 },
    })
    expect(await api.run(runId)).toEqual(failed)
    const steps = (await api.steps(runId)) as (StepRecord & { rollback?: boolean })[]
    expect(steps.map(({ rollback }) => rollback)).toEqual([true, undefined, true, undefined])
  })

  test('a run with nothing to undo, one that succeeds, and one of a runner without the feature have no cleanup run', async () => {
    const fails = await open(flow([run('a'), breaks]), { cleanup: true })
    const succeeds = await open(undoing(flow([undoable('a')])), { cleanup: true })
    const plain = await open(flow([undoable('a'), breaks]), {}, [])
    const failed = [await api.send({ name: fails.name }), await api.send({ name: plain.name })]
    for (const { runId } of failed) await api.failed(runId)
    const { runId } = await api.send({ name: succeeds.name })
    await api.succeeded(runId)
    for (const each of [...failed, { runId }]) expect(await followers(each.runId)).toEqual([])
  })

  test('the handler of cancelled runs comes first, and only for a cancel', async () => {
    const stages = [undoable('a'), wait('w', 'never')]
    const { name } = await open(undoing(flow(stages), { onCancel: [run('release')] }), { cleanup: true })
    const { runId } = await api.send({ name })
    await api.reaches(runId, 'waiting')
    expect((await api.post(`/runs/${runId}/cancel`)).status).toBe(200)
    const { id } = await cleanupOf(runId)
    await api.succeeded(id)
    expect(await namesOf(id)).toEqual(['release', 'rollback:a'])
    const unstarted = await open(undoing(flow([sleep('s', 60_000)]), { onCancel: [run('release')] }), { cleanup: true })
    const second = await api.send({ name: unstarted.name })
    await api.reaches(second.runId, 'waiting')
    await api.post(`/runs/${second.runId}/cancel`, {})
    const cleanup = await cleanupOf(second.runId)
    await api.succeeded(cleanup.id)
    expect(await namesOf(cleanup.id)).toEqual(['release'])
  })

  test('a cancel with cleanup: false has none, nor have the children', async () => {
    const kid = await open(undoing(flow([undoable('k'), wait('w', 'never')])), { cleanup: true })
    const { name } = await open(undoing(flow([undoable('a'), child('c', kid.name)])), { cleanup: true })
    const start = async () => {
      const { runId } = await api.send({ name })
      const childRunId = await until(async () => (await api.steps(runId)).find(step => step.name === 'c')?.childRunId)
      await api.reaches(childRunId as string, 'waiting')
      return { runId, childRunId: childRunId as string }
    }
    const skipped = await start()
    expect((await api.post(`/runs/${skipped.runId}/cancel`, { cleanup: false })).status).toBe(200)
    await api.reaches(skipped.childRunId, 'cancelled')
    expect((await followers(skipped.runId)).map(({ id }) => id)).toEqual([skipped.childRunId])
    expect(await followers(skipped.childRunId)).toEqual([])
    const [action] = (await api.get('/control-actions?limit=1')).json as { detail?: unknown }[]
    expect(action).toMatchObject({ action: 'cancel', detail: { cleanup: false } })
    const cleaned = await start()
    await api.post(`/runs/${cleaned.runId}/cancel`)
    await api.reaches(cleaned.childRunId, 'cancelled')
    for (const id of [cleaned.runId, cleaned.childRunId]) await api.succeeded((await cleanupOf(id)).id)
  })

  test('a rollback that fails is tried again, and a cleanup run that fails changes nothing else', async () => {
    let tries = 0
    const undo = () => {
      tries++
      throw new Error('not now')
    }
    const retry = { maxAttempts: 3, initialMs: 1, maxMs: 1 }
    const { name } = await open(
      (invoke, record) => {
        const last = invoke.steps[stepId('rollback:a')]
        if (last?.error) return { status: 422, body: { error: { message: 'rollback:a failed' }, logs: [] } }
        return undoing(flow([undoable('a'), breaks]), { undo })(invoke, record)
      },
      { retry, onFailure: false },
    )
    const { runId } = await api.send({ name })
    const failed = await api.failed(runId)
    const { id } = await cleanupOf(runId)
    await api.failed(id)
    expect(tries).toBe(3)
    expect(await followers(id)).toEqual([])
    expect(await api.run(runId)).toEqual(failed)
  })
})
