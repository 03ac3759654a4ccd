// Invokes of runners whose socket is on another engine: the request, the reply, checkpoints and cancels.

import { describe, expect, test } from 'vitest'
import { APP_RUNNER, twoEngines } from './relay.testkit.ts'

/** Two engines, a runner with a socket on the first. */
async function opened(terms: { maxConcurrency?: number } = {}) {
  const { cluster, one, two, runner } = await twoEngines(terms)
  /** The id of the runner's invoke number `index`. */
  const sent = async (index = 0) => {
    await cluster.settle()
    return runner.invokes[index]!.id
  }
  return { cluster, one, two, runner, sent }
}

describe('an invoke', () => {
  test('reaches the runner on the other engine with its text and deadline unchanged', async () => {
    const { two, runner, sent } = await opened()
    const reply = two.invoke({ body: '{"a":"\\ud800 \\n ä𝄞"}', timeoutMs: 5000 })
    const id = await sent()
    const { deadlineMs, ...rest } = runner.invokes[0]!.payload as { deadlineMs: number }
    expect(rest).toEqual({ a: '\ud800 \n ä𝄞' })
    // The deadline is shortened by the real time that has passed.
    expect(deadlineMs).toBeGreaterThan(4000)
    expect(deadlineMs).toBeLessThanOrEqual(5000)
    const body = '{"b" : 1.50,\n"c":"\\u0000 ä𝄞\u2028"} '
    runner.connection.result(id, 206, body)
    expect(await reply).toEqual({ kind: 'answered', status: 206, body })
  })

  test('without a deadline has the longest one on the wire', async () => {
    const { two, runner, sent } = await opened()
    const reply = two.invoke({ timeoutMs: Number.POSITIVE_INFINITY })
    const id = await sent()
    expect(runner.invokes[0]!.payload.deadlineMs).toBe(Number.MAX_SAFE_INTEGER)
    runner.connection.result(id, 200, '{}')
    expect(await reply).toMatchObject({ kind: 'answered' })
  })

  test('of a runner on the same engine sends no message', async () => {
    const { cluster, one, runner, sent } = await opened()
    const reply = one.invoke()
    runner.connection.result(await sent(), 200, '{}')
    expect(await reply).toMatchObject({ kind: 'answered' })
    expect(cluster.network.count('invoke')).toBe(0)
  })

  test('that finds no room is refused, and its engine is notified when there is room', async () => {
    const { cluster, two, runner, sent } = await opened({ maxConcurrency: 1 })
    const replies = [two.invoke(), two.invoke()]
    const first = await sent()
    expect(await replies[1]).toEqual({
      kind: 'refused',
      message: 'the runner has no free capacity',
      isFull: true,
    })
    expect(two.relayed.room(APP_RUNNER)).toBe(0)
    expect(runner.invokes).toHaveLength(1)
    two.roomChanges.length = 0
    runner.connection.result(first, 200, '"one"')
    expect(await replies[0]).toMatchObject({ kind: 'answered', body: '"one"' })
    await cluster.clock.advance(100)
    expect(two.roomChanges).toEqual([APP_RUNNER])
    expect(two.relayed.room(APP_RUNNER)).toBe(1)
  })
})

describe('a cancel', () => {
  test('that is lost is made up for: the host cancels a call whose status is not requested', async () => {
    const { cluster, two, runner, sent } = await opened()
    const controller = new AbortController()
    const reply = two.invoke({ signal: controller.signal })
    const id = await sent()
    cluster.network.drops = message => message.includes(' cancel ')
    controller.abort()
    await reply
    await cluster.clock.advance(14_000)
    expect(runner.cancelled).toEqual([])
    await cluster.clock.advance(4000)
    expect(runner.cancelled).toEqual([id])
  })

  test('that arrives before its invoke still cancels it', async () => {
    const { cluster, two, runner } = await opened()
    const controller = new AbortController()
    cluster.network.faults = { lost: 0, repeated: 0, delayMsMax: 500 }
    const reply = two.invoke({ signal: controller.signal })
    cluster.network.faults = { lost: 0, repeated: 0, delayMsMax: 0 }
    controller.abort()
    expect(await reply).toEqual({ kind: 'aborted' })
    await cluster.clock.advance(1000)
    expect(runner.invokes).toEqual([])
  })
})

describe('a checkpoint', () => {
  test('is stored by the engine that drives the run, in order, and acknowledged to the runner', async () => {
    const { cluster, two, runner, sent } = await opened()
    const stored: string[] = []
    const reply = two.invoke({
      onCheckpoint: async checkpoint => {
        stored.push(checkpoint)
        return `{"stored":${stored.length}}`
      },
    })
    const id = await sent()
    for (const n of [1, 2, 3]) runner.connection.checkpoint(id, `{"n":${n}}`)
    runner.connection.result(id, 200, '{}')
    expect(await reply).toMatchObject({ kind: 'answered' })
    expect(stored).toEqual(['{"n":1}', '{"n":2}', '{"n":3}'])
    await cluster.settle()
    expect(runner.acks).toEqual(['{"stored":1}', '{"stored":2}', '{"stored":3}'])
  })

  test('is stored once, although it and its answer are lost', async () => {
    const { cluster, two, runner, sent } = await opened()
    let stored = 0
    const reply = two.invoke({ onCheckpoint: async () => `{"stored":${++stored}}` })
    const id = await sent()
    const losses = new Map([
      ['checkpoint', 2],
      ['checkpointed', 2],
    ])
    cluster.network.drops = message => {
      const topic = message.split(' ', 2)[1] as string
      const left = losses.get(topic) ?? 0
      losses.set(topic, left - 1)
      return left > 0
    }
    runner.connection.checkpoint(id, '{}')
    await cluster.clock.advance(20_000)
    expect(stored).toBe(1)
    expect(runner.acks).toEqual(['{"stored":1}'])
    runner.connection.result(id, 200, '{}')
    expect(await reply).toMatchObject({ kind: 'answered' })
  })

  test('that cannot be stored breaks the invoke, and an obsolete one aborts it', async () => {
    const { two, runner, sent } = await opened()
    const failing = two.invoke({ onCheckpoint: () => Promise.reject(new Error('the disk is full')) })
    runner.connection.checkpoint(await sent(0), '{}')
    expect(await failing).toEqual({ kind: 'broken', message: 'a checkpoint could not be stored' })
    const obsolete = two.invoke({ onCheckpoint: async () => undefined })
    runner.connection.checkpoint(await sent(1), '{}')
    expect(await obsolete).toEqual({ kind: 'aborted' })
  })

  test('of an invoke without checkpoints breaks it', async () => {
    const { two, runner, sent } = await opened()
    const reply = two.invoke()
    runner.connection.checkpoint(await sent(), '{}')
    expect(await reply).toMatchObject({ kind: 'broken' })
  })

  test('of a call that its caller aborted cancels it at the runner', async () => {
    const { cluster, two, runner, sent } = await opened()
    const controller = new AbortController()
    const reply = two.invoke({ signal: controller.signal, onCheckpoint: async () => '{}' })
    const id = await sent()
    cluster.network.drops = message => message.includes(' cancel ')
    controller.abort()
    await reply
    cluster.network.drops = () => false
    runner.connection.checkpoint(id, '{}')
    await cluster.settle()
    expect(runner.cancelled).toEqual([id])
  })
})
