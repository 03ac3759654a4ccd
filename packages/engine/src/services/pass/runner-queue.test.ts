// Who gets the room on runners that take only so many at once.

import { expect, test } from 'vitest'
import { VirtualClock } from '../../adapters/clock/virtual.ts'
import { connectUrl } from '../../domain/model/connect-url.ts'
import type { Run } from '../../domain/model/run.ts'
import type { Runner } from '../../domain/model/workflow.ts'
import { Interrupt } from './interrupt.ts'
import { NONE_TRIED } from './invoke.ts'
import { type Reservation, type Reserved, RunnerQueue } from './runner-queue.ts'

const URL_OF = (id: string) => connectUrl('default', 'app', id)

/** A line before runners with as much room as the test says. */
function open(rooms: Record<string, number | undefined>) {
  const clock = new VirtualClock()
  const runners = () =>
    Object.keys(rooms).map(
      id => ({ runnerId: id, url: URL_OF(id), namespace: 'default', app: 'app' }) as Runner,
    )
  const room = (url: string) => rooms[url.split('/').at(-1) as string]
  const line: RunnerQueue = new RunnerQueue({
    clock,
    room,
    reaches: url => runners().some(runner => runner.url === url),
    route(run) {
      const able = runners().filter(({ runnerId }) => run.runner === undefined || run.runner === runnerId)
      const runner = able.find(({ url }) => line.hasRoom(url)) ?? able[0]
      return runner ? { kind: 'runner', runner } : { kind: 'none' }
    },
  })
  const seated: Record<string, Reserved> = {}
  const wait = (id: string, fields: Partial<Run> = {}) => {
    const abort = new Interrupt()
    const run = { id, namespace: 'default', app: 'app', createdAt: clock.now(), ...fields } as Run
    const seat = line.wait(run, NONE_TRIED, abort.signal).then(seat => {
      seated[id] = seat
      return seat
    })
    return { seat, abort }
  }
  /** Those who got a seat, or left, in order. */
  const settled = async () => {
    await clock.advance(0)
    return Object.keys(seated)
  }
  const aRun = { id: 'run_a', namespace: 'default', app: 'app' } as Run
  return { line, rooms, clock, wait, settled, seated, take: () => line.take(aRun, NONE_TRIED) }
}

test('a seat counts as taken until it is released, by those after it too', () => {
  const { take, line, rooms } = open({ r1: 1 })
  const seat = take() as Reservation
  expect(seat.runner.runnerId).toBe('r1')
  expect(take()).toBe('full')
  seat.release()
  seat.release()
  expect(line.hasRoom(URL_OF('r1'))).toBe(true)
  delete rooms.r1
  expect(take()).toBe('none')
})

test('a runner without a bound has room for all', () => {
  const { take, line } = open({ r1: undefined })
  for (let i = 0; i < 10; i++) expect(take()).toMatchObject({ runner: { runnerId: 'r1' } })
  expect(line.hasRoom(URL_OF('r1'))).toBe(true)
})

test('the highest priority goes first, then the oldest, as far as there is room', async () => {
  const { line, rooms, wait, settled } = open({ r1: 0 })
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
  line.look(URL_OF('r1'))
  expect(await settled()).toEqual(['e', 'c'])
  rooms.r1 = 8
  line.look(URL_OF('r1'))
  expect(await settled()).toEqual(['e', 'c', 'd', 'a', 'b', 'f'])
})

test('a seat that is given up goes to the next', async () => {
  const { line, rooms, wait, settled, seated } = open({ r1: 0 })
  wait('a')
  wait('b')
  rooms.r1 = 1
  line.look(URL_OF('r1'))
  expect(await settled()).toEqual(['a'])
  ;(seated.a as Reservation).release()
  expect(await settled()).toEqual(['a', 'b'])
})

test('those who are pinned to a full runner let the others pass', async () => {
  const { line, rooms, wait, settled, seated } = open({ r1: 0, r2: 0 })
  wait('a', { runner: 'r1' })
  wait('b')
  rooms.r2 = 1
  line.look(URL_OF('r2'))
  expect(await settled()).toEqual(['b'])
  expect(seated.b).toMatchObject({ runner: { runnerId: 'r2' } })
})

test('when the last runner is gone nobody waits for it', async () => {
  const { line, rooms, wait, settled, seated } = open({ r1: 0 })
  wait('a')
  delete rooms.r1
  line.look(URL_OF('r1'))
  expect(await settled()).toEqual(['a'])
  expect(seated.a).toBe('none')
})

test('who is recalled, aborted, or out of time leaves', async () => {
  const { line, clock, wait, settled, seated } = open({ r1: 0 })
  wait('a')
  wait('b').abort.abort()
  wait('c', { holds: { queueTimeoutMs: 5000 } })
  wait('d')
  line.recall('a')
  expect(await settled()).toEqual(['b', 'a'])
  await clock.advance(5000)
  expect(await settled()).toEqual(['b', 'a', 'c'])
  expect(line.has('d')).toBe(true)
  line.recallAll()
  expect(await settled()).toEqual(['b', 'a', 'c', 'd'])
  expect(Object.values(seated)).toEqual(['left', 'left', 'left', 'left'])
})

test('a seat that is left to another engine is taken after a moment', async () => {
  const { line, rooms, clock, wait, settled } = open({ r1: 0 })
  wait('a')
  rooms.r1 = 1
  line.lend(URL_OF('r1'))
  line.look(URL_OF('r1'))
  expect(await settled()).toEqual([])
  await clock.advance(100)
  expect(await settled()).toEqual(['a'])
})

test('room that came before somebody is in line is his at once', async () => {
  const { wait, settled } = open({ r1: 1 })
  wait('a')
  expect(await settled()).toEqual(['a'])
})

test('room that nobody tells of is seen within a second', async () => {
  const { rooms, clock, wait, settled } = open({ r1: 0 })
  wait('a')
  rooms.r1 = 1
  await clock.advance(1000)
  expect(await settled()).toEqual(['a'])
})
