import { describe, expect, it } from 'vitest'
import { BatchQueue, QUEUED_REQUESTS_MAX } from './batch-queue.ts'
import type { Channel } from './channel.ts'
import { type BatchAnswer, isUnit, type Request, type UnitRequest } from './requests.ts'

/** A channel whose batches end when the test says so. */
class BlockedChannel implements Channel {
  readonly batches: { batch: Request[]; resolve(answer: BatchAnswer): void; reject(error: Error): void }[] = []
  closed = 0

  run(batch: Request[]): Promise<BatchAnswer> {
    return new Promise((resolve, reject) => {
      this.batches.push({ batch, resolve, reject })
    })
  }

  async close(): Promise<void> {
    this.closed++
  }

  /** Answers every request of the oldest unanswered batch with its own first value. */
  answer(more: Partial<BatchAnswer> = {}): void {
    const { batch, resolve } = this.batches[this.answered++] as (typeof this.batches)[number]
    resolve({
      answers: batch.map(request => (isUnit(request) ? request[0] : undefined)),
      transactions: 1,
      ...more,
    })
  }

  answered = 0
}

const turn = () => new Promise(resolve => setImmediate(resolve))

function make() {
  const channel = new BlockedChannel()
  const troubles: string[] = []
  const queue = new BatchQueue(channel, (_, message) => troubles.push(message))
  const submit = (...request: UnitRequest) => queue.submit(request, { refusable: true })
  const sizes = () => channel.batches.map(({ batch }) => batch.length)
  return { channel, queue, submit, sizes, troubles }
}

describe('batch queue', () => {
  it('sends requests that a batch left unanswered in the next one, before later ones', async () => {
    const { channel, submit, sizes } = make()
    const answers = Promise.all(['a', 'b', 'c'].map(each => submit(each)))
    await turn()
    const later = submit('d')
    channel.answer({ answers: ['a'] })
    await turn()
    expect(sizes()).toEqual([3, 3])
    channel.answer()
    expect(await Promise.all([answers, later])).toEqual([['a', 'b', 'c'], 'd'])
  })

  it('gathers while a batch is under way and sends the next before the callers hear', async () => {
    const { channel, submit, sizes } = make()
    const first = submit('a').then(() => sizes())
    await turn()
    const rest = [submit('b'), submit('c')]
    await turn()
    expect(sizes()).toEqual([1])
    channel.answer()
    expect(await first).toEqual([1, 2])
    channel.answer()
    expect(await Promise.all(rest)).toEqual(['b', 'c'])
  })

  it('bounds a batch by requests and by weight', async () => {
    const { channel, submit, sizes } = make()
    const all = Array.from({ length: 1030 }, () => submit(0))
    const big = 'x'.repeat(3 * 1024 * 1024)
    all.push(submit(big), submit(big), submit(big), submit(0))
    for (const expected of [[512], [512, 512], [512, 512, 8], [512, 512, 8, 2]]) {
      await turn()
      expect(sizes()).toEqual(expected)
      channel.answer()
    }
    await Promise.all(all)
  })

  it('refuses requests beyond its bounds, except those that must not be', async () => {
    const { channel, queue, submit } = make()
    const big = 'x'.repeat(32 * 1024 * 1024)
    const heavy = Array.from({ length: 8 }, () => submit(big))
    await expect(submit(0)).rejects.toMatchObject({ code: 'overloaded' })
    for (let i = 0; i < 8; i++) {
      await turn()
      channel.answer()
    }
    await Promise.all(heavy)
    const many = Array.from({ length: QUEUED_REQUESTS_MAX }, () => submit(0))
    expect(queue.pending).toBe(QUEUED_REQUESTS_MAX)
    await expect(submit(0)).rejects.toMatchObject({ code: 'overloaded' })
    many.push(queue.submit([1], { refusable: false }))
    while (queue.pending > 0) {
      await turn()
      channel.answer()
      await turn()
    }
    expect((await Promise.all(many)).at(-1)).toBe(1)
    const again = submit(2)
    await turn()
    channel.answer()
    expect(await again).toBe(2)
  })

  it('fails one request alone', async () => {
    const { channel, submit, troubles } = make()
    const outcomes = Promise.allSettled([submit('a'), submit('b'), submit('c')])
    await turn()
    const failures = [
      { failed: 'boom', unavailable: false },
      { failed: 'disk is full', unavailable: true },
    ]
    channel.answer({ answers: ['a', ...failures] })
    const [well, failed, unavailable] = await outcomes
    expect(well).toEqual({ status: 'fulfilled', value: 'a' })
    expect(failed).toMatchObject({ reason: { message: expect.stringContaining('boom') } })
    expect(unavailable).toMatchObject({ reason: { code: 'unavailable', cause: { message: 'disk is full' } } })
    expect(troubles).toHaveLength(2)
  })

  it('fails everything, now and later, when the other side is broken or gone', async () => {
    const unavailable = { status: 'rejected', reason: { code: 'unavailable' } }
    for (const end of ['broken', 'gone'] as const) {
      const { channel, queue, submit, troubles } = make()
      const first = Promise.allSettled([submit('a')])
      await turn()
      const second = Promise.allSettled([submit('b'), submit('c')])
      const failed = { failed: 'fsync', unavailable: true }
      if (end === 'broken') channel.answer({ answers: [failed], broken: 'fsync' })
      else channel.batches[0]?.reject(new Error('the thread has ended'))
      expect(await first).toMatchObject([unavailable])
      expect(await second).toMatchObject([unavailable, unavailable])
      await expect(submit('d')).rejects.toMatchObject({ code: 'unavailable' })
      expect(channel.batches).toHaveLength(1)
      expect(queue.pending).toBe(0)
      expect(troubles).toContain('the store is broken')
      await queue.stop()
    }
  })

  it('finishes what is queued when it is stopped, and takes nothing more', async () => {
    const { channel, queue, submit } = make()
    const all = Promise.all([submit('a'), submit('b')])
    let stopped = false
    const stopping = queue.stop().then(() => {
      stopped = true
    })
    await expect(submit('c')).rejects.toMatchObject({ code: 'unavailable' })
    await turn()
    expect(stopped).toBe(false)
    channel.answer()
    expect(await all).toEqual(['a', 'b'])
    await stopping
    await queue.close()
    expect(channel.closed).toBe(1)
  })
})
