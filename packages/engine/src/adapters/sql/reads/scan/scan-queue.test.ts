import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { EngineError } from '../../../../domain/model/errors.ts'
import { NAMESPACE_SCANS_MAX, SCANS_MAX, ScanQueue } from './scan-queue.ts'

/** A queue whose slices end when the test says so. */
function held(atOnce = 1) {
  const begun: string[] = []
  const ends: (() => void)[] = []
  const queue = new ScanQueue(async ([query]) => {
    begun.push(query?.sql ?? '')
    await new Promise<void>(resolve => ends.push(resolve))
    return []
  }, atOnce)
  /** A scan with this many slices; the test controls its signal. */
  const scan = (namespace: string, name: string, slices = 1, signal?: AbortSignal) =>
    queue.run({ namespace, signal }, async read => {
      for (let i = 1; i <= slices; i++) await read([{ sql: `${name}${i}`, params: [] }])
      return name
    })
  const endSlice = async () => {
    ends.shift()?.()
    await nextTurn()
  }
  const endAll = async () => {
    await nextTurn()
    while (ends.length > 0) await endSlice()
  }
  return { begun, scan, endSlice, endAll }
}

it('gives namespaces their turns, one slice each', async () => {
  const { begun, scan, endAll } = held()
  const scans = [scan('a', 'a', 3), scan('a', 'A', 1), scan('b', 'b', 3), scan('c', 'c', 1)]
  await endAll()
  expect(begun).toEqual(['a1', 'b1', 'c1', 'A1', 'b2', 'a2', 'b3', 'a3'])
  expect(await Promise.all(scans)).toEqual(['a', 'A', 'b', 'c'])
})

it('has one slice of a namespace under way, also where several run side by side', async () => {
  const { begun, scan, endSlice, endAll } = held(2)
  const scans = [scan('a', 'a'), scan('a', 'A'), scan('b', 'b'), scan('c', 'c')]
  await nextTurn()
  expect(begun).toEqual(['a1', 'b1'])
  await endSlice()
  expect(begun).toEqual(['a1', 'b1', 'c1'])
  await endAll()
  expect(begun).toEqual(['a1', 'b1', 'c1', 'A1'])
  await Promise.all(scans)
})

it('begins a new scan of a namespace before it continues an old one, and ends the old one before the next', async () => {
  const { begun, scan, endSlice, endAll } = held()
  const scans = [scan('a', 'x', 3), scan('a', 'y', 2)]
  await endSlice()
  scans.push(scan('a', 'z'))
  await endAll()
  expect(begun).toEqual(['x1', 'y1', 'z1', 'x2', 'x3', 'y2'])
  await Promise.all(scans)
})

it('goes on after a scan that failed', async () => {
  const queue = new ScanQueue(async ([query]) => {
    if (query?.sql === 'bad') throw new Error('bad')
    return []
  }, 1)
  const run = (sql: string) =>
    queue.run({ namespace: 'a', signal: undefined }, async read => {
      await read([{ sql, params: [] }])
      return sql
    })
  const answers = await Promise.allSettled(['one', 'bad', 'two'].map(run))
  expect(answers).toMatchObject([{ value: 'one' }, { reason: { message: 'bad' } }, { value: 'two' }])
})

it('refuses a scan beyond the bound of its namespace or of all, and takes one again when another has ended', async () => {
  const { scan, endSlice, endAll } = held()
  const scans = Array.from({ length: SCANS_MAX }, (_, i) => scan(`n${Math.floor(i / NAMESPACE_SCANS_MAX)}`, 's'))
  await expect(scan('n1', 'late')).rejects.toMatchObject({ code: 'overloaded' })
  await expect(scan('another', 'late')).rejects.toMatchObject({ code: 'overloaded' })
  await endSlice()
  scans.push(scan('n0', 'taken'))
  await endAll()
  expect((await Promise.all(scans)).at(-1)).toBe('taken')
})

it('lets an aborted scan leave at once, waiting or under way, and never begins its next slice', async () => {
  const { begun, scan, endAll } = held()
  const [one, two] = [new AbortController(), new AbortController()]
  const underWay = scan('a', 'one', 2, one.signal)
  const waiting = scan('a', 'two', 2, two.signal)
  const last = scan('a', 'last')
  await nextTurn()
  one.abort(new Error('gone'))
  two.abort(new Error('gone'))
  await expect(underWay).rejects.toThrow('gone')
  await expect(waiting).rejects.toMatchObject({ code: 'overloaded' })
  expect(begun).toEqual(['one1'])
  await endAll()
  expect(await last).toBe('last')
  expect(begun).toEqual(['one1', 'last1'])
})

it('blames the scan itself only if it had as many slices as all others since it came', async () => {
  const { begun, scan, endSlice, endAll } = held()
  const aborted = async (controller: AbortController, one: Promise<unknown>) => {
    controller.abort(new Error('too wide'))
    return one.catch((error: EngineError) => error.message)
  }
  const [wide, crowded] = [new AbortController(), new AbortController()]
  const alone = scan('a', 'w', 9, wide.signal)
  for (let i = 0; i < 3; i++) await endSlice()
  expect(await aborted(wide, alone)).toBe('too wide')
  await endAll()
  const others = [scan('b', 'b', 9), scan('c', 'c', 9)]
  const among = scan('a', 'a', 9, crowded.signal)
  for (let i = 0; i < 6; i++) await endSlice()
  expect(begun.filter(name => name.startsWith('a')).length).toBeGreaterThan(0)
  expect(await aborted(crowded, among)).toContain('others were running')
  await endAll()
  await Promise.all(others)
})
