// Invokes between engines whose messages are lost, repeated, delayed or reordered, and engines that crash: every call ends
// in one reply, and no runner receives the same call twice.

import { describe, expect, test } from 'vitest'
import type { InvokeReply } from '../../../ports/transport.ts'
import { type RelayCluster, twoEngines } from './relay.testkit.ts'

/** The reply, if it has arrived by that time. */
async function after(cluster: RelayCluster, ms: number, reply: Promise<InvokeReply>) {
  await cluster.clock.advance(ms)
  return Promise.race([reply, undefined])
}

describe('an engine that crashes during a call', () => {
  test('breaks the call as soon as it is taken for dead, whatever the deadline', async () => {
    const { cluster, two, runner } = await twoEngines()
    const reply = two.invoke({ timeoutMs: 7_200_000 })
    await cluster.settle()
    expect(runner.invokes).toHaveLength(1)
    cluster.network.cut('one')
    expect(await after(cluster, 8000, reply)).toBeUndefined()
    expect(await after(cluster, 4000, reply)).toMatchObject({ kind: 'broken' })
  })

  test('may still answer when it comes back before that', async () => {
    const { cluster, two, runner } = await twoEngines()
    const reply = two.invoke()
    await cluster.settle()
    cluster.network.cut('one')
    await cluster.clock.advance(7000)
    runner.connection.result(runner.invokes[0]!.id, 200, '{}')
    cluster.network.reconnect('one')
    expect(await after(cluster, 4000, reply)).toMatchObject({ kind: 'answered' })
  })

  test('breaks the call although it announces itself, when it reports nothing about the call', async () => {
    const { cluster, two } = await twoEngines()
    const reply = two.invoke()
    await cluster.settle()
    cluster.network.drops = (message, to) => to === 'one' && message.includes(' still ')
    expect(await after(cluster, 14_000, reply)).toBeUndefined()
    expect(await after(cluster, 4000, reply)).toMatchObject({ kind: 'broken' })
  })

  test('as the caller has its invokes cancelled at the runner', async () => {
    const { cluster, two, runner } = await twoEngines()
    void two.invoke()
    await cluster.settle()
    cluster.network.cut('two')
    await cluster.clock.advance(20_000)
    expect(runner.cancelled).toEqual([runner.invokes[0]!.id])
  })
})

describe('a lost message', () => {
  test('with an invoke refuses the call: no runner received it', async () => {
    const { cluster, two, runner } = await twoEngines()
    cluster.network.drops = message => message.includes(' invoke ')
    const reply = two.invoke()
    expect(await after(cluster, 3000, reply)).toMatchObject({ kind: 'refused' })
    expect(runner.invokes).toEqual([])
  })

  test('with a reply is sent again on a status request, and not for ever', async () => {
    const { cluster, two, runner } = await twoEngines()
    const reply = two.invoke()
    await cluster.settle()
    cluster.network.drops = message => message.includes(' reply ')
    runner.connection.result(runner.invokes[0]!.id, 200, '"the answer"')
    expect(await after(cluster, 6000, reply)).toBeUndefined()
    cluster.network.drops = () => false
    expect(await after(cluster, 3000, reply)).toEqual({ kind: 'answered', status: 200, body: '"the answer"' })
    const sent = cluster.network.count('reply')
    await cluster.clock.advance(60_000)
    expect(cluster.network.count('reply')).toBe(sent)
  })
})

describe('a message that comes twice or late', () => {
  test('with an invoke is carried out once, also after its call is over', async () => {
    const { cluster, two, runner } = await twoEngines()
    cluster.network.faults = { lost: 0, repeated: 1, delayMsMax: 3000 }
    const replies = Array.from({ length: 50 }, (_, i) => two.invoke({ body: `{"no":${i}}` }))
    runner.onInvoke = ({ id, payload }) => runner.connection.result(id, 200, String(payload.no))
    await cluster.clock.advance(60_000)
    for (const [i, reply] of replies.entries()) {
      expect([{ kind: 'answered', status: 200, body: String(i) }]).toContainEqual(await reply)
    }
    expect(runner.invokes).toHaveLength(50)
  })

  test('with a reply changes nothing when its call is over', async () => {
    const { cluster, two, runner } = await twoEngines()
    const controller = new AbortController()
    cluster.network.drops = message => message.includes(' cancel ')
    const aborted = two.invoke({ signal: controller.signal })
    await cluster.settle()
    controller.abort()
    expect(await aborted).toEqual({ kind: 'aborted' })
    const next = two.invoke()
    await cluster.settle()
    runner.connection.result(runner.invokes[0]!.id, 200, '"late"')
    runner.connection.result(runner.invokes[1]!.id, 200, '"next"')
    expect(await next).toMatchObject({ body: '"next"' })
    await cluster.settle()
    // Its receipt was confirmed, so it is not sent again.
    const sent = cluster.network.count('reply')
    await cluster.clock.advance(10_000)
    expect(cluster.network.count('reply')).toBe(sent)
  })

  test('with an invoke is not carried out once the call was reported as unknown', async () => {
    const { cluster, two, runner } = await twoEngines()
    cluster.network.faults = { lost: 0, repeated: 0, delayMsMax: 20_000 }
    const reply = two.invoke()
    cluster.network.faults = { lost: 0, repeated: 0, delayMsMax: 0 }
    expect(await after(cluster, 3000, reply)).toMatchObject({ kind: 'refused' })
    await cluster.clock.advance(30_000)
    expect(runner.invokes).toEqual([])
  })
})

describe('an engine that stood still', () => {
  test('does not carry out invokes that waited: the run may be far ahead by now', async () => {
    const { cluster, two, runner } = await twoEngines()
    cluster.network.freeze('one')
    const reply = two.invoke()
    expect(await after(cluster, 4001, reply)).toBeUndefined()
    cluster.network.unfreeze('one')
    await cluster.settle()
    expect(await reply).toEqual({ kind: 'refused', message: 'the invoke arrived too late' })
    expect(runner.invokes).toEqual([])
  })

  test('for a moment carries them out', async () => {
    const { cluster, two, runner } = await twoEngines()
    cluster.network.freeze('one')
    void two.invoke()
    await cluster.clock.advance(4000)
    cluster.network.unfreeze('one')
    await cluster.settle()
    expect(runner.invokes).toHaveLength(1)
  })
})

describe('a connection that is down', () => {
  test('breaks the calls under way, refuses the next, and works again when it is back', async () => {
    const { cluster, two, runner } = await twoEngines()
    const under = two.invoke()
    await cluster.settle()
    cluster.network.cut('two')
    expect(await after(cluster, 12_000, under)).toMatchObject({ kind: 'broken' })
    expect(await two.invoke()).toMatchObject({ kind: 'refused' })
    cluster.network.reconnect('two')
    await cluster.clock.advance(2000)
    await cluster.settle()
    const reply = two.invoke()
    await cluster.settle()
    runner.connection.result(runner.invokes.at(-1)!.id, 200, '{}')
    expect(await reply).toMatchObject({ kind: 'answered' })
  })
})

describe('memory', () => {
  test('is bounded by refusing further invokes of other engines', async () => {
    const { cluster, two, runner } = await twoEngines()
    const replies = Array.from({ length: 10_001 }, () => two.invoke())
    await cluster.settle()
    expect(runner.invokes).toHaveLength(10_000)
    expect(await replies[10_000]).toEqual({
      kind: 'refused',
      message: '10000 invokes of other engines are in progress',
    })
    for (const { id } of runner.invokes) runner.connection.result(id, 200, '{}')
    for (const reply of replies.slice(0, -1)) expect((await reply).kind).toBe('answered')
  })

  test('of unconfirmed replies is bounded: further replies are sent once', async () => {
    const { cluster, two, runner } = await twoEngines()
    const answer = async (length: number) => {
      const replies = Array.from({ length }, () => two.invoke())
      await cluster.settle()
      for (const { id } of runner.invokes.splice(0)) runner.connection.result(id, 200, `"${'x'.repeat(1_000_000)}"`)
      await cluster.settle()
      return replies
    }
    // Confirmed replies no longer count.
    for (let i = 0; i < 2; i++)
      for (const { kind } of await Promise.all(await answer(35))) expect(kind).toBe('answered')
    cluster.network.drops = message => message.includes(' reply ')
    const replies = await answer(70)
    cluster.network.drops = () => false
    await cluster.clock.advance(6000)
    const kinds = (await Promise.all(replies)).map(({ kind }) => kind)
    expect(kinds.filter(kind => kind === 'answered')).toHaveLength(67)
    expect(kinds.filter(kind => kind === 'broken')).toHaveLength(3)
  })
})

test.each(Array.from({ length: 12 }, (_, i) => i + 1))(
  'with messages lost, repeated and reordered (seed %i) every call ends in its own reply',
  async seed => {
    const { cluster, one, two, runner } = await twoEngines({ seed })
    cluster.network.faults = { lost: 0.2, repeated: 0.2, delayMsMax: 3000 }
    runner.onInvoke = ({ id, payload }) => {
      const answer = () => runner.connection.result(id, 200, String(payload.no))
      cluster.clock.at(cluster.clock.now() + (Number(payload.no) % 7) * 1000, answer)
    }
    const replies: Promise<InvokeReply>[] = []
    for (let i = 0; i < 40; i++) {
      replies.push(two.invoke({ body: `{"no":${i}}` }))
      await cluster.clock.advance(500)
    }
    await cluster.clock.advance(60_000)
    const ended: InvokeReply[] = []
    for (const reply of replies) void reply.then(one => ended.push(one))
    await cluster.settle()
    expect(ended).toHaveLength(replies.length)
    const sent = runner.invokes.map(({ payload }) => payload.no)
    expect(new Set(sent).size).toBe(sent.length)
    for (const [i, reply] of (await Promise.all(replies)).entries()) {
      if (reply.kind === 'answered') expect(reply.body).toBe(String(i))
      // A refused call costs no attempt, so no runner may have received it.
      if (reply.kind === 'refused') expect(sent).not.toContain(i)
    }
    expect(ended.filter(({ kind }) => kind === 'answered').length).toBeGreaterThan(0)
    // Once the network works, nothing of the calls is left on either side.
    cluster.network.faults = { lost: 0, repeated: 0, delayMsMax: 0 }
    await cluster.clock.advance(60_000)
    await one.relayed.host.idle(new AbortController().signal)
    const counts = () => [cluster.network.count('still'), cluster.network.count('reply')]
    const before = counts()
    await cluster.clock.advance(20_000)
    expect(counts()).toEqual(before)
  },
)
