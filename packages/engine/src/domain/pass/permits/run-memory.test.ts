import { describe, expect, test } from 'vitest'
import { RunMemory } from './run-memory.ts'

const MAX = 6400
/** A larger run is large. */
const SMALL = 100
const TINY = 6

describe('the memory for the state of runs', () => {
  test('takes large runs up to half of it, and small ones beside them', () => {
    const memory = new RunMemory(MAX)
    memory.take(2000)
    expect(memory.hasRoom(1200)).toBe(true)
    expect(memory.hasRoom(1201)).toBe(false)
    expect(memory.hasRoom(SMALL)).toBe(true)
  })

  test('takes the largest run whatever its size, if no other large one has some', () => {
    const memory = new RunMemory(MAX)
    for (let i = 0; i < 64; i++) memory.take(SMALL)
    expect(memory.hasRoom(MAX * 10)).toBe(true)
    memory.take(MAX * 10)
    expect(memory.hasRoom(SMALL + 1)).toBe(false)
  })

  test('keeps a quarter for small runs, however large the others are', () => {
    const memory = new RunMemory(MAX)
    memory.take(MAX * 10)
    let taken = 0
    for (; memory.hasRoom(SMALL); taken++) memory.take(SMALL)
    expect(taken * SMALL).toBe(MAX / 4)
  })

  test('keeps a part for tiny runs, however many others are small so far', () => {
    const memory = new RunMemory(MAX)
    memory.take(MAX * 10)
    for (let i = 0; i < 64; i++) memory.take(SMALL)
    expect(memory.hasRoom(SMALL)).toBe(false)
    let taken = 0
    for (; memory.hasRoom(TINY); taken++) memory.take(TINY)
    expect(taken * TINY).toBeCloseTo(MAX / 16, -1)
    expect(memory.mustLeave(TINY)).toBe(false)
    memory.giveBack(TINY)
    expect(memory.hasRoom(TINY)).toBe(true)
    expect(new RunMemory(MAX, memory.inUse()).used).toBe(memory.used)
  })

  test('has large runs that outgrew it leave, until the others fit or one is left', () => {
    const memory = new RunMemory(MAX)
    for (let i = 0; i < 3; i++) memory.take(2000)
    expect(memory.mustLeave(2000)).toBe(true)
    memory.leaves(2000)
    expect(memory.mustLeave(2000)).toBe(false)
    memory.left(2000)
    memory.giveBack(2000)
    memory.giveBack(2000)
    memory.take(MAX * 2)
    memory.giveBack(2000)
    expect(memory.mustLeave(MAX * 2)).toBe(false)
    expect(memory.isExceeded).toBe(false)
    memory.take(2000)
    expect(memory.isExceeded).toBe(true)
  })

  test('has small runs leave that are more than their part', () => {
    const memory = new RunMemory(MAX)
    for (let i = 0; i < 64; i++) memory.take(SMALL)
    expect(memory.hasRoom(SMALL)).toBe(false)
    expect(memory.mustLeave(SMALL)).toBe(false)
    memory.take(SMALL)
    expect(memory.mustLeave(SMALL)).toBe(true)
    memory.leaves(SMALL)
    expect(memory.mustLeave(SMALL)).toBe(false)
  })

  test('a copy goes on from what is taken', () => {
    const memory = new RunMemory(MAX)
    memory.take(2000)
    memory.take(SMALL)
    const { max, ...used } = memory.inUse()
    const copy = new RunMemory(max, used)
    expect(copy.used).toBe(2000 + SMALL)
    copy.giveBack(2000)
    expect(copy.hasRoom(MAX)).toBe(true)
    expect(memory.hasRoom(MAX)).toBe(false)
  })
})
