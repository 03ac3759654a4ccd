// The order in which runs get room on runners with a maximum of invokes.

import { expect, test } from 'vitest'
import { VirtualClock } from '../../../adapters/clock/virtual.ts'
import { connectUrl } from '../../../domain/model/connect-url.ts'
import type { Run } from '../../../domain/model/run.ts'
import type { Runner } from '../../../domain/model/workflow.ts'
import { Interrupt } from '../interrupt.ts'
import { NONE_TRIED, type Requested, type RunnerPermit, RunnerPermits } from './runner-permits.ts'

const URL_OF = (id: string) => connectUrl('default', 'app', id)

/** A queue for runners with the room that the test specifies. */
function open(rooms: Record<string, number | undefined>) {
  const clock = new VirtualClock()
  const runners = () =>
    Object.keys(rooms).map(id => ({ runnerId: id, url: URL_OF(id), namespace: 'default', app: 'app' }) as Runner)
  const room = (url: string) => rooms[url.split('/').at(-1) as string]
  const queue: RunnerPermits = new RunnerPermits({
    clock,
    transport: { room, reaches: url => runners().some(runner => runner.url === url) },
    route(run) {
      const able = runners().filter(({ runnerId }) => run.runner === undefined || run.runner === runnerId)
      const runner = able.find(({ url }) => queue.hasRoom(url)) ?? able[0]
      return runner ? { kind: 'runner', runner } : { kind: 'none' }
    },
  })
  const requested: Record<string, Requested> = {}
  const wait = (id: string, fields: Partial<Run> = {}) => {
    const abort = new Interrupt()
    const run = { id, namespace: 'default', app: 'app', createdAt: clock.now(), ...fields } as Run
    const permit = queue.request(run, NONE_TRIED, abort).then(permit => {
      requested[id] = permit
      return permit
    })
    return { permit, abort }
  }
  /** The runs that are out of the queue, in order. */
  const settled = async () => {
    await clock.advance(0)
    return Object.keys(requested)
  }
  const aRun = { id: 'run_a', namespace: 'default', app: 'app' } as Run
  return { queue, rooms, clock, wait, settled, requested, take: () => queue.tryTake(aRun, NONE_TRIED) }
}

test('a permit uses up room until it is given back, once', () => {
  const { take, queue, rooms } = open({ r1: 1 })
  const permit = take() as RunnerPermit
  expect(permit.runner.runnerId).toBe('r1')
  expect(take()).toBe('full')
  permit.giveBack()
  permit.giveBack()
  expect(queue.hasRoom(URL_OF('r1'))).toBe(true)
  delete rooms.r1
  expect(take()).toBe('none')
})

test('a runner without a bound has room for all', () => {
  const { take, queue } = open({ r1: undefined })
  for (let i = 0; i < 10; i++) expect(take()).toMatchObject({ runner: { runnerId: 'r1' } })
  expect(queue.hasRoom(URL_OF('r1'))).toBe(true)
})

test('the highest priority goes first, then the oldest, as far as there is room', async () => {
  const { queue, rooms, wait, settled } = open({ r1: 0 })
  for (const [id, priority] of [
    ['b', 0],
    ['c', 5],
    ['a', 0],
    ['e', 9],
    ['d', 5],
    ['f', -1],
  ] as const)
    wait(id, { priority })
  rooms.r1 = 2
  queue.roomChanged(URL_OF('r1'))
  expect(await settled()).toEqual(['e', 'c'])
  rooms.r1 = 8
  queue.roomChanged(URL_OF('r1'))
  expect(await settled()).toEqual(['e', 'c', 'd', 'a', 'b', 'f'])
})

test('room that is given back goes to the next run', async () => {
  const { queue, rooms, wait, settled, requested } = open({ r1: 0 })
  wait('a')
  wait('b')
  rooms.r1 = 1
  queue.roomChanged(URL_OF('r1'))
  expect(await settled()).toEqual(['a'])
  ;(requested.a as RunnerPermit).giveBack()
  expect(await settled()).toEqual(['a', 'b'])
})

test('runs that are pinned to a full runner do not hold up the others', async () => {
  const { queue, rooms, wait, settled, requested } = open({ r1: 0, r2: 0 })
  wait('a', { runner: 'r1' })
  wait('b')
  rooms.r2 = 1
  queue.roomChanged(URL_OF('r2'))
  expect(await settled()).toEqual(['b'])
  expect(requested.b).toMatchObject({ runner: { runnerId: 'r2' } })
})

test('when the last runner is gone no run waits for it', async () => {
  const { queue, rooms, wait, settled, requested } = open({ r1: 0 })
  wait('a')
  delete rooms.r1
  queue.roomChanged(URL_OF('r1'))
  expect(await settled()).toEqual(['a'])
  expect(requested.a).toBe('none')
})

test('a run that is withdrawn, aborted, or out of time leaves the queue', async () => {
  const { queue, clock, wait, settled, requested } = open({ r1: 0 })
  wait('a')
  wait('b').abort.abort()
  wait('c', { holds: { queueTimeoutMs: 5000 } })
  wait('d')
  queue.withdraw('a')
  expect(await settled()).toEqual(['b', 'a'])
  await clock.advance(5000)
  expect(await settled()).toEqual(['b', 'a', 'c'])
  expect(queue.has('d')).toBe(true)
  queue.withdrawAll()
  expect(await settled()).toEqual(['b', 'a', 'c', 'd'])
  expect(Object.values(requested)).toEqual(['withdrawn', 'withdrawn', 'withdrawn', 'withdrawn'])
})

test('room that is kept for another engine is free again after a moment', async () => {
  const { queue, rooms, clock, wait, settled } = open({ r1: 0 })
  wait('a')
  rooms.r1 = 1
  queue.takeForPeer(URL_OF('r1'))
  queue.roomChanged(URL_OF('r1'))
  expect(await settled()).toEqual([])
  await clock.advance(100)
  expect(await settled()).toEqual(['a'])
})

test('a run gets room at once that came before it joined the queue', async () => {
  const { wait, settled } = open({ r1: 1 })
  wait('a')
  expect(await settled()).toEqual(['a'])
})

test('room that nothing reports is found within a second', async () => {
  const { rooms, clock, wait, settled } = open({ r1: 0 })
  wait('a')
  rooms.r1 = 1
  await clock.advance(1000)
  expect(await settled()).toEqual(['a'])
})
