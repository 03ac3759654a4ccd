// The hub with a server whose streams the tests write. Time is a number that the tests set.

import { expect, test } from 'vitest'
import { openHub, until } from '../../kit/browser/hub.ts'

const step = (seq: number, runId = 'run_1') => ({
  kind: 'step_status',
  runId,
  seq,
  name: `s${seq}`,
  status: 'succeeded',
})
const status = (runId: string, seq = 1) => ({
  kind: 'run_status',
  runId,
  seq,
  workflow: 'w',
  app: 'a',
  status: 'running',
})

test('eight tabs have one stream with the topics of all; a batch goes to the tabs that follow it', async () => {
  const { tab, streams, tick } = await openHub()
  const tabs = Array.from({ length: 8 }, tab)
  for (const [i, { follow }] of tabs.entries()) follow(i < 4 ? ['runs'] : ['events', 'run:run_1'])
  const newest = () => streams.at(-1)
  await until(() => newest()?.topics.length === 3)
  tick()
  tick(1001)
  await until(() => streams.filter(({ isOpen }) => isOpen).length === 1)
  await newest()?.write(status('run_1'), status('run_1', 2), { kind: 'event', id: 'evt_1', data: 'x' }, step(1))
  const batches = () => tabs.map(({ got }) => got.filter(({ type }) => type === 'batch' || type === 'timeline').length)
  await until(() => {
    tick()
    return batches().join() === '1,1,1,1,2,2,2,2'
  })
  expect(tabs[0]?.got.find(({ type }) => type === 'batch')).toMatchObject({ batch: { count: 2, frames: [{ seq: 2 }] } })
  expect(tabs[7]?.got.find(({ type }) => type === 'batch')).toMatchObject({
    topic: 'events',
    batch: { frames: [{ kind: 'event', id: 'evt_1' }] },
  })
})

test('a change of topics opens the next stream before the last one closes, and loses no frame', async () => {
  const { tab, streams, tick } = await openHub()
  const one = tab()
  one.follow(['runs', 'run:run_1'])
  await until(() => streams.length === 1)
  await streams[0]?.write(step(1), step(2))
  await until(() => {
    tick()
    return one.seqs().length === 2
  })
  const two = tab()
  two.follow(['events', 'run:run_1'])
  await until(() => streams.length === 2)
  // A tab that opens later needs the timeline from its start.
  expect(streams[1]?.topics).toEqual(['runs', 'events', 'run:run_1'])
  expect(streams[0]?.isOpen).toBe(true)
  await streams[0]?.write(step(3), status('run_9'))
  await streams[1]?.write(...[1, 2, 3, 4].map(seq => step(seq)))
  await until(() => {
    tick(1)
    return two.seqs().length === 4
  })
  expect([one.seqs(), two.seqs()]).toEqual([
    [1, 2, 3, 4],
    [1, 2, 3, 4],
  ])
  expect(one.got.filter(({ type }) => type === 'batch')).toHaveLength(1)
  tick(1001)
  await until(() => streams[0]?.isOpen === false)
  expect(one.got.filter(({ type }) => type === 'gap')).toHaveLength(1)
})

test('a tab that follows a list whose stream is open has a gap of it, once: it read the list before', async () => {
  const { tab, streams, tick } = await openHub()
  const [one, two] = [tab(), tab()]
  const gaps = ({ got }: typeof one) => got.filter(({ type }) => type === 'gap').length
  one.follow(['runs'])
  await until(() => streams.length === 1 && gaps(one) === 1)
  two.follow(['runs'])
  expect(gaps(two)).toBe(1)
  two.follow(['runs'])
  tick()
  expect([gaps(one), gaps(two), streams.length]).toEqual([1, 1, 1])
})

test('after an interruption a timeline resumes after its last frame, and lists have one gap', async () => {
  const { tab, streams, tick, now } = await openHub()
  const one = tab()
  one.follow(['runs', 'run:run_1'])
  await until(() => streams.length === 1)
  await streams[0]?.write(step(1), step(2))
  await until(() => {
    tick()
    return one.seqs().length === 2
  })
  const lostAt = now()
  streams[0]?.drop()
  const states = () => one.got.flatMap(each => (each.type === 'state' ? each.state : []))
  await until(() => {
    tick(0)
    return states().at(-1) === 'reconnecting'
  })
  tick()
  await until(() => streams.length === 2)
  expect(streams[1]?.topics).toEqual(['runs', 'run:run_1@2'])
  await streams[1]?.write(step(3))
  await until(() => {
    tick()
    return one.seqs().length === 3
  })
  expect(states().filter((state, i, all) => state !== all[i - 1] && state !== 'idle')).toEqual([
    'live',
    'reconnecting',
    'live',
  ])
  expect(one.got.filter(({ type }) => type === 'gap')).toEqual([
    expect.not.objectContaining({ lostAt: expect.anything() }),
    expect.objectContaining({ topics: ['runs'], lostAt }),
  ])
})

test('an engine that does not answer is tried with growing pauses; a tab that comes back tries at once', async () => {
  const { tab, tick, refuse, accept, requested, streams } = await openHub()
  refuse(503, '{}')
  const one = tab()
  const first = requested()
  one.follow(['runs'])
  await first
  const retryAts = () => one.got.flatMap(each => (each.type === 'state' && each.retryAt ? each.retryAt : []))
  await until(() => {
    tick(0)
    return retryAts().length === 1
  })
  const second = requested()
  tick(250)
  await second
  await until(() => {
    tick(0)
    return retryAts().length === 2
  })
  expect((retryAts()[1] ?? 0) - (retryAts()[0] ?? 0)).toBe(500)
  accept()
  one.follow(['runs'])
  await until(() => streams.length === 1)
})

test('a run that does not exist is left out; the others go on', async () => {
  const { tab, refuse, accept, requested, streams, tick } = await openHub()
  refuse(404, '{"error":{"message":"run run_no does not exist"}}')
  const one = tab()
  const first = requested()
  one.follow(['runs', 'run:run_no', 'run:run_1'])
  await first
  accept()
  await until(() => {
    tick()
    return streams.length === 1
  })
  expect(streams[0]?.topics).toEqual(['runs', 'run:run_1'])
})

test('a bulk job is a topic: its newest state comes to the tab that follows it, also while lists are sampled', async () => {
  const { tab, streams, tick } = await openHub()
  const [one, two] = [tab(), tab()]
  one.follow(['runs', 'bulk:blk_1'])
  two.follow(['runs'])
  await until(() => streams.length === 1)
  expect(streams[0]?.topics).toEqual(['runs', 'bulk:blk_1'])
  const job = (done: number) => ({ kind: 'bulk', id: 'blk_1', status: 'running', done })
  const batches = ({ got }: typeof one) => got.flatMap(each => (each.type === 'batch' ? each : []))
  await streams[0]?.write(...Array.from({ length: 5001 }, (_, i) => status(`run_${i % 200}`, i)))
  await until(() => {
    tick(0)
    return batches(two).reduce((sum, { batch }) => sum + batch.count, 0) === 5001
  })
  await streams[0]?.write(job(1), job(2), status('run_1', 6000))
  await until(() => {
    tick(0)
    return batches(one).some(({ topic }) => topic === 'bulk:blk_1')
  })
  const [state] = batches(one).filter(({ topic }) => topic === 'bulk:blk_1')
  expect(state?.batch).toEqual({ count: 2, frames: [job(2)], isSampled: false })
  expect(batches(two).every(({ topic }) => topic === 'runs')).toBe(true)
})

test('the progress of a run in a list is not a frame of its timeline, keeps its digits, and leaves its status', async () => {
  const { tab, streams, tick } = await openHub()
  const one = tab()
  one.follow(['runs', 'run:run_1'])
  await until(() => streams.length === 1)
  const progress = (seq: number, value: unknown) => ({ kind: 'progress', runId: 'run_1', seq, value })
  const listed = { workflow: 'w', app: 'a' }
  await streams[0]?.write(step(1), status('run_1', 2), { ...progress(9, { done: 1 }), ...listed }, step(3))
  await until(() => {
    tick()
    return one.seqs().length === 2
  })
  expect(one.seqs()).toEqual([1, 3])
  const frames = () => one.got.flatMap(each => (each.type === 'batch' ? each.batch.frames : []))
  expect(frames().map(({ kind, value }) => [kind, value])).toEqual([
    ['run_status', undefined],
    ['progress', '{"done":1}'],
  ])
  await streams[0]?.write(progress(4, 'half'))
  await until(() => {
    tick()
    return one.seqs().length === 3
  })
})

test('a bulk job that does not exist is left out; the others go on', async () => {
  const { tab, refuse, accept, requested, streams, tick } = await openHub()
  refuse(404, '{"error":{"message":"There is no bulk job blk_no."}}')
  const one = tab()
  const first = requested()
  one.follow(['bulk:blk_no', 'run:run_1'])
  await first
  accept()
  await until(() => {
    tick()
    return streams.length === 1
  })
  expect(streams[0]?.topics).toEqual(['run:run_1'])
})

test('a refused token ends the stream until there is a new one; a token that is gone for one tab stays for the others', async () => {
  const { tab, refuse, accept, requested, streams, tick } = await openHub()
  refuse(401, '{}')
  const one = tab()
  one.send({ type: 'token', namespace: 'default', token: 'old', before: undefined })
  const first = requested()
  one.follow(['runs'])
  await first
  await until(() => {
    tick()
    return one.got.some(each => each.type === 'state' && each.state === 'ended')
  })
  // A tab that has signed in meanwhile sees that the token is not its own.
  expect(one.got.at(-1)).toMatchObject({ state: 'ended', token: 'old' })
  accept()
  one.send({ type: 'token', namespace: 'default', token: 'new', before: 'old' })
  tab().send({ type: 'token', namespace: 'default', token: undefined, before: 'old' })
  await until(() => streams.length === 1)
  expect(streams[0]?.token).toBe('Bearer new')
  const three = tab()
  three.send({ type: 'ask', namespace: 'default' })
  expect(three.got).toEqual([{ type: 'token', namespace: 'default', token: 'new' }])
})

test('the stream closes when all tabs were hidden for a minute, and opens with a gap when one is shown', async () => {
  const { tab, streams, tick } = await openHub()
  const [one, two] = [tab(), tab()]
  one.follow(['runs'])
  two.follow(['runs'], true)
  await until(() => streams.length === 1)
  tick(39_000)
  await streams[0]?.comment('keep-alive')
  await until(() => one.got.some(({ type }) => type === 'gap'))
  one.follow(['runs'], true)
  tick(39_000)
  expect(streams.at(-1)?.isOpen).toBe(true)
  tick(39_000)
  await until(() => streams.every(({ isOpen }) => !isOpen))
  const count = streams.length
  two.follow(['runs'])
  await until(() => streams.length > count && two.got.at(-1)?.type === 'gap')
  expect(two.got.findLast(({ type }) => type === 'gap')).toHaveProperty('lostAt')
})

test('frames that the engine left out are a gap, and a silent stream is opened again', async () => {
  const { tab, streams, tick } = await openHub()
  const one = tab()
  const gaps = () => one.got.filter(({ type }) => type === 'gap').length
  one.follow(['runs', 'events'])
  await until(() => gaps() === 1)
  await streams[0]?.comment('skipped 12')
  await until(() => gaps() === 2)
  tick(40_001)
  tick()
  await until(() => gaps() === 3)
  expect(streams).toHaveLength(2)
})

test('more than 5,000 frames a second are sampled', async () => {
  const { tab, streams, tick } = await openHub()
  const one = tab()
  one.follow(['runs'])
  await until(() => streams.length === 1)
  const batches = () => one.got.flatMap(each => (each.type === 'batch' ? each.batch : []))
  await streams[0]?.write(...Array.from({ length: 5001 }, (_, i) => status(`run_${i % 200}`, i)))
  await until(() => {
    tick(0)
    return batches().reduce((sum, { count }) => sum + count, 0) === 5001
  })
  await streams[0]?.write(status('run_1', 6000))
  await until(() => {
    tick(0)
    return batches().at(-1)?.isSampled === true
  })
})

test('topics that nobody follows are left after a moment, the last of them with the stream', async () => {
  const { tab, streams, tick } = await openHub()
  const [one, two] = [tab(), tab()]
  one.follow(['runs', 'run:run_1'])
  await until(() => streams.length === 1)
  one.follow(['runs'])
  tick()
  tick(5000)
  await until(() => streams[1]?.topics.join() === 'runs')
  one.follow([])
  two.follow([])
  tick()
  tick(5000)
  await until(() => streams.every(({ isOpen }) => !isOpen))
})

test('a tab that crashed is forgotten when it does not answer', async () => {
  const { tab, streams, tick } = await openHub()
  const one = tab()
  one.follow(['runs'])
  await until(() => streams.length === 1)
  const hellos = () => one.got.filter(({ type }) => type === 'hello').length
  for (const count of [1, 2]) {
    tick(60_000)
    expect(hellos()).toBe(count)
  }
  tick(60_000)
  await until(() => streams.every(({ isOpen }) => !isOpen))
  expect(hellos()).toBe(2)
})

test('all counts are read once at the start, then one a minute for all tabs, while one is visible and signed in', async () => {
  const { tab, reads, tick } = await openHub()
  const tabs = [tab(), tab(), tab()]
  for (const each of tabs) each.follow([], true, true)
  tick(60_000)
  tabs[0]?.follow([], false, false)
  tick(10)
  expect(reads).toEqual([])
  tabs[0]?.follow([], false, true)
  const counts = (i: number) => tabs[i]?.got.flatMap(each => (each.type === 'counts' ? each.counts : [])) ?? []
  tick(1)
  tick(2000)
  await until(() => counts(0).length === 4 && counts(2).length === 4)
  expect(counts(1).at(-1)).toEqual({ failed: 3, held: 3, silent: 1, exhausted: '100+' })
  const first = ['/runs/facets', '/errors', '/runners', '/webhook-deliveries']
  expect([...reads].sort()).toEqual([...first].sort())
  for (let ms = 0; ms < 59_000; ms += 1000) tick(1000)
  expect(reads).toHaveLength(4)
  tick(1000)
  await until(() => counts(1).length === 5)
  for (const count of [6, 7, 8, 9]) {
    for (const [i, each] of tabs.entries()) each.follow([], i > 0, true)
    tick(60_000)
    await until(() => counts(1).length === count)
  }
  expect(reads.slice(4)).toEqual([...first, first[0]])
  const late = tab()
  late.follow([])
  expect(late.got).toEqual([{ type: 'counts', namespace: 'default', counts: counts(1).at(-1) }])
})
