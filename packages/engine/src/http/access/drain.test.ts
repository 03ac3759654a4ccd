import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { VirtualClock } from '../../adapters/clock/virtual.ts'
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

  test('is over at once when nothing is in flight', async () => {
    const clock = new VirtualClock()
    const drain = new Drain()
    await drain.run(clock, 1000)
    expect(drain.started).toBe(true)
    expect(clock.timerCount).toBe(0)
  })

  test('ends the streams that are still open, and waits for the last response', async () => {
    const clock = new VirtualClock()
    const drain = new Drain()
    const told: string[] = []
    const response = aResponse()
    drain.enter(response)
    drain.onStart(() => told.push('open'))
    drain.onStart(() => told.push('gone'))()
    let over = false
    const run = drain.run(clock, 1000).then(() => {
      over = true
    })
    expect(told).toEqual(['open'])
    await Promise.resolve()
    expect(over).toBe(false)
    response.emit('close')
    await run
    expect(clock.timerCount).toBe(0)
  })

  test('ends after its grace', async () => {
    const clock = new VirtualClock()
    const drain = new Drain()
    drain.enter(aResponse())
    const run = drain.run(clock, 1000)
    await clock.advance(1000)
    await run
    expect(drain.inFlight).toBe(1)
  })
})
