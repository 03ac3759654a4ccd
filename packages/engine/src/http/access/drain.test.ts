import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { Drain } from './drain.ts'

const aResponse = (): ServerResponse => new EventEmitter() as ServerResponse

describe('Drain', () => {
  test('counts a response until it is written or its connection is closed', () => {
    const drain = new Drain()
    const [written, cut] = [aResponse(), aResponse()]
    drain.enter(written)
    drain.enter(cut)
    expect(drain.inFlight).toBe(2)
    written.emit('finish')
    expect(drain.inFlight).toBe(2)
    written.emit('close')
    expect(drain.inFlight).toBe(1)
    cut.emit('close')
    expect(drain.inFlight).toBe(0)
  })
})
