import { expect, it } from 'vitest'
import { SerialQueue } from './serial-queue.ts'

it('does one work at a time, in the order they came, also after one that failed', async () => {
  const queue = new SerialQueue()
  const done: string[] = []
  const work = (name: string) => async () => {
    done.push(`${name} begins`)
    await new Promise(setImmediate)
    done.push(`${name} ends`)
    if (name === 'b') throw new Error(name)
    return name
  }
  const answers = await Promise.allSettled(['a', 'b', 'c'].map(name => queue.run(work(name))))
  expect(done).toEqual(['a', 'b', 'c'].flatMap(name => [`${name} begins`, `${name} ends`]))
  expect(answers).toMatchObject([{ value: 'a' }, { reason: { message: 'b' } }, { value: 'c' }])
})
