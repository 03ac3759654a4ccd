import { expect, test } from 'vitest'
import { Topic } from './live.ts'

test('a message under a key reaches every listener of that key', () => {
  const topic = new Topic<number>()
  const heard: string[] = []
  topic.on('a', n => heard.push(`first ${n}`))
  topic.on('a', n => heard.push(`second ${n}`))
  topic.on('b', n => heard.push(`other ${n}`))
  topic.publish('a', 1)
  topic.publish('nobody', 2)
  expect(heard).toEqual(['first 1', 'second 1'])
  expect(['a', 'b', 'nobody'].map(key => topic.has(key))).toEqual([true, true, false])
})

test('listeners that leave, twice or during a message, leave nothing behind', () => {
  const topic = new Topic<void>()
  let heard = 0
  const stops = Array.from({ length: 3 }, () => {
    const stop = topic.on('a', () => {
      heard++
      stop()
    })
    return stop
  })
  topic.publish('a')
  expect([heard, topic.size, topic.has('a')]).toEqual([3, 0, false])
  const later = topic.on('a', () => {})
  for (const stop of stops) stop()
  expect(topic.size).toBe(1)
  later()
  expect(topic.size).toBe(0)
})
