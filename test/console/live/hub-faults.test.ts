// The hub when machines sleep, tabs freeze, clocks are set back, and another server answers for the engine.

import { expect, test } from 'vitest'
import { openHub, until } from '../../kit/browser/hub.ts'

test('a machine that slept for hours forgets no tab, and reads again what its tabs missed', async () => {
  const { tab, streams, tick } = await openHub()
  const one = tab()
  const gaps = () => one.got.filter(({ type }) => type === 'gap').length
  one.follow(['runs'])
  await until(() => gaps() === 1)
  tick(3 * 3_600_000)
  expect(one.got.filter(({ type }) => type === 'hello')).toHaveLength(1)
  await until(() => {
    tick()
    return gaps() === 2
  })
  expect(streams.at(-1)?.isOpen).toBe(true)
})

test('a tab that was frozen, and forgotten, reads again what it missed while another one went on', async () => {
  const { tab, streams, tick } = await openHub()
  const [one, two] = [tab(), tab()]
  const gaps = (of: typeof one) => of.got.flatMap(each => (each.type === 'gap' ? each : []))
  for (const each of [one, two]) each.follow(['runs'])
  await until(() => gaps(two).length === 1)
  for (let minutes = 0; minutes < 4; minutes++) {
    tick(60_000)
    one.follow(['runs'])
  }
  const { length } = gaps(two)
  const known = gaps(one).length
  await until(() => {
    tick()
    return gaps(one).length > known
  })
  await streams
    .at(-1)
    ?.write({ kind: 'run_status', runId: 'run_1', seq: 1, workflow: 'w', app: 'a', status: 'running' })
  await until(() => {
    tick(0)
    return one.got.some(({ type }) => type === 'batch')
  })
  expect(two.got.some(({ type }) => type === 'batch')).toBe(false)
  for (let again = 0; again < 2; again++) two.follow(['runs'])
  expect(gaps(two).slice(length)).toEqual([expect.objectContaining({ topics: ['runs'], lostAt: expect.any(Number) })])
})

test('a clock that is set back by hours delays no attempt to connect', async () => {
  const { tab, tick, refuse, accept, requested, streams } = await openHub()
  refuse(503, '{}')
  const one = tab()
  const first = requested()
  one.follow(['runs'])
  await first
  const states = () => one.got.flatMap(each => (each.type === 'state' ? each : []))
  await until(() => {
    tick(0)
    return states().at(-1)?.state === 'reconnecting'
  })
  const { lostAt } = states().at(-1) ?? {}
  accept()
  tick(-3 * 3_600_000)
  tick(250)
  await until(() => streams.length === 1)
  await until(() => one.got.some(({ type }) => type === 'gap'))
  // The time is that of the clock that the tabs now read.
  const [gap] = one.got.flatMap(each => (each.type === 'gap' ? each : []))
  expect(gap?.lostAt).toBe((lostAt ?? 0) - 3 * 3_600_000)
})

test('a server that ends its streams at once is tried with growing pauses', async () => {
  const { tab, tick, streams, now } = await openHub()
  const one = tab()
  one.follow(['runs'])
  const gaps = () => one.got.filter(({ type }) => type === 'gap').length
  /** Ends the newest stream, and returns how long the hub waits before the next one. */
  const pauseAfter = async (count: number) => {
    await until(() => gaps() === count)
    one.got.push({ type: 'hello' })
    streams.at(-1)?.drop()
    const newest = () => one.got.at(-1)
    await until(() => {
      tick(0)
      const state = newest()
      return state?.type === 'state' && state.state === 'reconnecting'
    })
    const state = newest()
    return state?.type === 'state' ? (state.retryAt ?? 0) - now() : 0
  }
  for (const [i, ms] of [250, 500, 1000, 2000].entries()) {
    expect(await pauseAfter(i + 1)).toBe(ms)
    tick(ms)
    await until(() => streams.length === i + 2)
  }
  // After a stream that lasts, the pause is short again.
  await until(() => gaps() === 5)
  tick(10_000)
  expect(await pauseAfter(5)).toBe(250)
})

test('a page in place of the stream is no stream', async () => {
  const { tab, tick, answerPage, requested } = await openHub()
  answerPage()
  const one = tab()
  const first = requested()
  one.follow(['runs'])
  await first
  const states = () => one.got.flatMap(each => (each.type === 'state' ? each.state : []))
  await until(() => {
    tick(0)
    return states().at(-1) === 'reconnecting'
  })
  // It causes no further reads.
  expect(one.got.filter(({ type }) => type === 'gap')).toEqual([])
})

test.each([
  [404, '<html>no such service</html>'],
  [400, '<html>bad request</html>'],
  [408, ''],
])('a proxy that answers %i ends no session, and is tried with growing pauses', async (code, body) => {
  const { tab, tick, refuse, accept, requested, streams } = await openHub()
  refuse(code, body)
  const one = tab()
  const first = requested()
  one.follow(['runs', 'run:run_1'])
  await first
  const states = () => one.got.flatMap(each => (each.type === 'state' ? each : []))
  await until(() => {
    tick(0)
    return states().at(-1)?.state === 'reconnecting'
  })
  accept()
  tick()
  await until(() => streams.length === 1)
  expect(streams[0]?.topics).toEqual(['runs', 'run:run_1'])
})
