import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type SentCall, Silence } from './silence.ts'

const URL = 'http://10.0.0.1:3000'

let isAlive = true
let probes = 0
let silence: Silence
const silent: string[] = []

beforeEach(() => {
  vi.useFakeTimers()
  isAlive = true
  probes = 0
  silent.length = 0
  const probe = (_: string, done: (isAlive: boolean) => void) => {
    probes++
    const timer = setTimeout(() => done(isAlive), isAlive ? 1 : 1300)
    return () => clearTimeout(timer)
  }
  silence = new Silence(origin => silent.push(origin), probe)
})

afterEach(() => {
  silence.close()
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

function call(moves = false) {
  const ended: string[] = []
  const end = (message: string) => {
    ended.push(message)
    silence.ended(URL, sent)
  }
  const sent: SentCall = { passOver: message => void (moves && end(message)), fail: end }
  silence.sent(URL, sent)
  return { ended, sent }
}

const s = (seconds: number) => vi.advanceTimersByTime(seconds * 1000)

test('a long call on a machine that lives costs one probe', () => {
  const long = call()
  s(3600)
  expect([probes, long.ended, silence.isSilent(URL)]).toEqual([1, [], false])
  silence.ended(URL, long.sent)
})

test('calls that are answered cost none', () => {
  for (let i = 0; i < 100; i++) {
    const { sent } = call()
    s(0.9)
    silence.heard(URL)
    silence.ended(URL, sent)
  }
  expect(probes).toBe(0)
})

test('a call that a dead machine has not confirmed is passed over within 3 s, and new ones do not go there', () => {
  isAlive = false
  const { ended } = call(true)
  s(2.4)
  expect([ended, silence.isSilent(URL), silent]).toEqual([['the machine of the runner does not answer'], true, [URL]])
})

test('the others end after 15 s and some of silence, also those that it had confirmed', () => {
  const old = call(true)
  s(2)
  isAlive = false
  const stays = call()
  s(14)
  expect([old.ended, stays.ended]).toEqual([[], []])
  s(8)
  const why = [expect.stringMatching(/^the machine of the runner does not answer for 1\d s$/)]
  expect([old.ended, stays.ended]).toEqual([why, why])
})

test('a machine that is back gets calls again, and is forgotten if it never comes back', () => {
  isAlive = false
  call(true)
  s(10)
  isAlive = true
  s(5)
  expect(silence.isSilent(URL)).toBe(false)
  isAlive = false
  call(true)
  s(10)
  expect(silence.isSilent(URL)).toBe(true)
  s(120)
  expect(silence.isSilent(URL)).toBe(false)
})

test('every answer is a sign of life, also one that comes during a probe', () => {
  isAlive = false
  const { ended, sent } = call()
  s(4)
  silence.heard(URL)
  expect(silence.isSilent(URL)).toBe(false)
  silence.ended(URL, sent)
  s(60)
  expect(ended).toEqual([])
})
