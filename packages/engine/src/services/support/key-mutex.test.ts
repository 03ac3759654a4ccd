import { expect, test } from 'vitest'
import { KeyMutex } from './key-mutex.ts'

const soon = () => new Promise(resolve => setImmediate(resolve))

test('callers of one key get it one after the other, in the order of their calls', async () => {
  const mutex = new KeyMutex()
  const got: string[] = []
  const take = async (name: string, key: string) => {
    const end = await mutex.acquire(key)
    got.push(name)
    return end
  }
  const [first, second, third, other] = [take('1', 'a'), take('2', 'a'), take('3', 'a'), take('other', 'b')]
  await soon()
  expect(got).toEqual(['1', 'other'])
  const end = await first
  end()
  await soon()
  expect(got).toEqual(['1', 'other', '2'])
  end()
  await soon()
  expect(got).toHaveLength(3)
  ;(await second)()
  ;(await third)()
  ;(await other)()
  ;(await take('4', 'a'))()
  expect(got.slice(3)).toEqual(['3', '4'])
})
