import { describe, expect, it } from 'vitest'
import { Destinations, PER_DESTINATION_MAX } from './destinations.ts'

const PERMITS = 20

/** Posts as many to the destination as it has room for; all of them are answered, or none. */
function round(destinations: Destinations, name: string, answered: boolean): number {
  const count = destinations.limits().room.get(name) ?? 1
  for (let i = 0; i < count; i++) destinations.begin(name)
  for (let i = 0; i < count; i++) destinations.end(name, answered)
  return count
}

describe('Destinations', () => {
  it('give a destination one permit, and twice as many for every round of answers, up to a bound', () => {
    const destinations = new Destinations(1000)
    const rounds = Array.from({ length: 7 }, () => round(destinations, 'a', true))
    expect(rounds).toEqual([1, 2, 4, 8, 16, 32, 32])
    expect(PER_DESTINATION_MAX).toBe(32)
  })

  it('take the permits away from one that answers no more, and give them back when it does', () => {
    const destinations = new Destinations(1000)
    for (let i = 0; i < 6; i++) round(destinations, 'a', true)
    expect(round(destinations, 'a', false)).toBe(32)
    expect([1, 2, 3].map(() => round(destinations, 'a', false))).toEqual([1, 1, 1])
    expect([1, 2, 3].map(() => round(destinations, 'a', true))).toEqual([1, 2, 4])
  })

  it('leave room as it is after an attempt that sent nothing', () => {
    const destinations = new Destinations(1000)
    round(destinations, 'a', true)
    destinations.begin('a')
    destinations.end('a', undefined)
    expect(destinations.limits().room.get('a')).toBe(2)
  })

  it('keep half of the permits from those that have not shown to answer', () => {
    const destinations = new Destinations(PERMITS)
    round(destinations, 'proven', true)
    for (let i = 0; i < PERMITS / 2; i++) {
      expect(destinations.limits().unnamed).toBe(PERMITS / 2 - i)
      destinations.begin(`dead ${i}`)
    }
    const { room, unnamed } = destinations.limits()
    expect(unnamed).toBe(0)
    expect(room.get('dead 0')).toBe(0)
    expect(room.get('proven')).toBe(2)
    destinations.end('dead 0', false)
    expect(destinations.limits().unnamed).toBe(1)
  })

  it('say when one that was full has room again', () => {
    const destinations = new Destinations(PERMITS)
    destinations.begin('a')
    expect(destinations.end('a', true)).toEqual({ hadNoRoom: true })
    destinations.begin('a')
    expect(destinations.end('a', true)).toEqual({ hadNoRoom: false })
    for (let i = 0; i < 3; i++) destinations.begin('a')
    expect(destinations.end('a', undefined)).toEqual({ hadNoRoom: true })
  })

  it('forget those that failed, and those without a delivery for longest', () => {
    const destinations = new Destinations(PERMITS)
    round(destinations, 'dead', false)
    expect(destinations.limits().room.size).toBe(0)
    destinations.begin('busy')
    for (let i = 0; i < 2000; i++) round(destinations, `d${i}`, true)
    const { room } = destinations.limits()
    expect(room.size).toBe(500)
    expect([room.has('busy'), room.has('d0'), room.has('d1999')]).toEqual([true, false, true])
  })
})
