import { expect, test } from 'vitest'
import { JoinedReads } from './joined-reads.ts'

const soon = () => new Promise(resolve => setImmediate(resolve))

/** Reads that end when the test says so; each returns its number. */
function opened() {
  const reads = new JoinedReads<number>()
  const ends: { resolve(): void; reject(error: Error): void }[] = []
  const ask = (key = 'a') =>
    reads.read(
      key,
      () =>
        new Promise((resolve, reject) => {
          const number = ends.length + 1
          ends.push({ resolve: () => resolve(number), reject })
        }),
    )
  return { ask, ends }
}

test('callers during a read share the next one, which begins after it; other keys do not wait', async () => {
  const { ask, ends } = opened()
  const [first, second, third, other] = [ask(), ask(), ask(), ask('b')]
  await soon()
  expect(ends).toHaveLength(2)
  ends[1]?.resolve()
  expect(await other).toBe(2)
  ends[0]?.resolve()
  expect(await first).toBe(1)
  await soon()
  expect(ends).toHaveLength(3)
  const fourth = ask()
  ends[2]?.resolve()
  expect(await Promise.all([second, third])).toEqual([3, 3])
  await soon()
  ends[3]?.resolve()
  expect(await fourth).toBe(4)
  const fifth = ask()
  ends[4]?.resolve()
  expect(await fifth).toBe(5)
})

test('a failed read fails its own callers alone', async () => {
  const { ask, ends } = opened()
  const [first, second] = [ask(), ask()]
  ends[0]?.reject(new Error('no store'))
  await expect(first).rejects.toThrow('no store')
  await soon()
  ends[1]?.resolve()
  expect(await second).toBe(2)
})
