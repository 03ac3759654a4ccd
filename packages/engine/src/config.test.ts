import { describe, expect, test } from 'vitest'
import { readConfig, storeName } from './config.ts'

describe('where an engine stands', () => {
  test('by default on a file, alone', () => {
    const { store, queue, limiter } = readConfig({})
    expect(store).toEqual({ kind: 'sqlite', file: './.perdure/engine.db' })
    expect({ queue, limiter }).toEqual({ queue: undefined, limiter: { kind: 'memory' } })
  })

  test('on PostgreSQL and Redis, named without their passwords', () => {
    const url = 'postgres://ann:s3cret@db.example/app?sslmode=require'
    const { store, queue, limiter } = readConfig({
      ENGINE_STORE: url,
      ENGINE_QUEUE: 'memory',
      ENGINE_LIMITER: 'rediss://:s3cret@redis.example:6380',
    })
    expect(store).toEqual({ kind: 'postgres', url })
    expect(storeName(store)).toBe('postgres://ann:***@db.example/app?sslmode=require')
    expect(queue).toEqual({ kind: 'memory' })
    expect(limiter).toEqual({ kind: 'redis', url: 'rediss://:s3cret@redis.example:6380' })
  })

  test.each([
    ['ENGINE_STORE', 'mysql://ann:s3cret@db/app'],
    ['ENGINE_STORE', 'postgres://ann:s3cret@[db/app'],
    ['ENGINE_QUEUE', 'postgres://ann:s3cret@db/app'],
    ['ENGINE_LIMITER', 'redis:s3cret'],
  ])('%s refuses %s in one line that tells no password', (setting, value) => {
    const read = () => readConfig({ [setting]: value })
    expect(read).toThrow(new RegExp(`^${setting} \\(--[a-z]+\\) must [^\n]+$`))
    expect(read).not.toThrow(/s3cret/)
  })
})
