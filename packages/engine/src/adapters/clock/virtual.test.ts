import { describe, expect, it } from 'vitest'
import { VirtualClock } from './virtual.ts'

const START = 1_000_000

const open = () => {
  const clock = new VirtualClock({ start: START })
  const fired: string[] = []
  const set = (name: string, time: number) => clock.at(time, () => fired.push(`${name}@${clock.now() - START}`))
  return { clock, fired, set }
}

describe('VirtualClock', () => {
  it('fires in order of time, then of insertion, each at its own time', async () => {
    const { clock, fired, set } = open()
    set('c', START + 20)
    set('a', START + 10)
    set('d', START + 20)
    set('b', START + 10)
    set('late', START + 31)
    await clock.advanceTo(START + 30)
    expect(fired).toEqual(['a@10', 'b@10', 'c@20', 'd@20'])
    expect(clock.now()).toBe(START + 30)
    expect(clock.nextTimer()).toBe(START + 31)
    await clock.advance(1)
    expect(fired.at(-1)).toBe('late@31')
    expect(clock.nextTimer()).toBeUndefined()
  })

  it('waits for the work that a timer starts before the next timer, and fires the timers that it sets', async () => {
    const { clock, fired, set } = open()
    clock.at(START + 10, async () => {
      await Promise.resolve()
      await new Promise(resolve => setImmediate(resolve))
      fired.push(`work@${clock.now() - START}`)
      set('nested', START + 15)
    })
    set('after', START + 20)
    await clock.advance(100)
    expect(fired).toEqual(['work@10', 'nested@15', 'after@20'])
  })

  it('waits for pending work to set its timers before it moves', async () => {
    const { clock, fired, set } = open()
    void Promise.resolve().then(() => set('first', START + 1))
    set('second', START + 2)
    await clock.advance(2)
    expect(fired).toEqual(['first@1', 'second@2'])
  })

  it('cancels timers, from within a timer too', async () => {
    const { clock, fired, set } = open()
    const cancel = set('a', START + 1)
    cancel()
    cancel()
    expect(clock.nextTimer()).toBeUndefined()
    clock.at(START + 1, () => cancelB())
    const cancelB = set('b', START + 1)
    await clock.advance(5)
    expect(fired).toEqual([])
  })

  it('refuses to run backwards, or twice at once', async () => {
    const { clock } = open()
    await expect(clock.advance(-1)).rejects.toThrow('forward')
    await expect(clock.advanceTo(Number.POSITIVE_INFINITY)).rejects.toThrow('forward')
    const first = clock.advance(1)
    await expect(clock.advance(1)).rejects.toThrow('one advance at a time')
    await first
    await clock.advance(1)
    expect(clock.now()).toBe(START + 2)
  })

  it('rejects the advance when a timer throws, and goes on afterwards', async () => {
    const { clock, fired, set } = open()
    clock.at(START + 1, () => {
      throw new Error('broken timer')
    })
    set('next', START + 1)
    await expect(clock.advance(1)).rejects.toThrow('broken timer')
    await clock.advance(1)
    expect(fired).toEqual(['next@1'])
  })

  it('leaps: timers that fall due on the way fire at its end, in order, and once', () => {
    const { clock, fired, set } = open()
    set('b', START + 20)
    set('a', START + 10)
    set('late', START + 31)
    const again = () => void clock.at(clock.now() + 10, again)
    clock.at(START + 5, () => set('set on the way', START + 15))
    clock.at(START + 5, again)
    clock.leapTo(START + 30)
    expect(fired).toEqual(['a@30', 'set on the way@30', 'b@30'])
    expect(clock.nextTimer()).toBe(START + 31)
    expect(() => clock.leapTo(START)).toThrow('only runs forward')
  })

  it('a set wall clock moves the timers of the wall clock only', async () => {
    const { clock, fired, set } = open()
    const after = (name: string, ms: number) => clock.after(ms, () => fired.push(`${name} after ${clock.elapsed()}`))
    set('at', START + 10)
    after('ten', 10)
    after('twenty', 20)
    clock.setWall(START - 5)
    expect([clock.now(), clock.elapsed()]).toEqual([START - 5, 0])
    await clock.advance(15)
    expect(fired, 'by the wall clock it is 10 only now').toEqual(['ten after 10', 'at@10'])
    clock.setWall(START + 3_600_000)
    set('again', START + 3_600_001)
    await clock.advance(10)
    expect(fired.slice(2)).toEqual(['again@3600001', 'twenty after 20'])
  })
})
