import { expect, test } from 'vitest'
import { KeyMutex } from './key-mutex.ts'

const soon = () => new Promise(resolve => setImmediate(resolve))

test('who asks for the same is served one after the other, in the order of asking', async () => {
  const turns = new KeyMutex()
  const told: string[] = []
  const take = async (name: string, key: string) => {
    const end = await turns.next(key)
    told.push(name)
    return end
  }
  const [first, second, third, other] = [take('1', 'a'), take('2', 'a'), take('3', 'a'), take('other', 'b')]
  await soon()
  expect(told).toEqual(['1', 'other'])
  const end = await first
  end()
  await soon()
  expect(told).toEqual(['1', 'other', '2'])
  end()
  await soon()
  expect(told).toHaveLength(3)
  ;(await second)()
  ;(await third)()
  ;(await other)()
  ;(await take('4', 'a'))()
  expect(told.slice(3)).toEqual(['3', '4'])
})
