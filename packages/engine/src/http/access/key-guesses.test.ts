// Wrong API keys of an address: how many it may send, how it recovers, and the cost in memory.

import pino from 'pino'
import { expect, test } from 'vitest'
import { VirtualClock } from '../../adapters/clock/virtual.ts'
import { EngineError } from '../../domain/model/errors.ts'
import { ADDRESSES_MAX, KeyGuesses, networkOf, WRONG_KEY_AGAIN_MS, WRONG_KEYS_MAX } from './key-guesses.ts'

const unauthorized = new EngineError('unauthorized', 'the API key is not valid')
const LONG = 'x'.repeat(40)

function open() {
  const clock = new VirtualClock()
  const guesses = new KeyGuesses({ clock, log: pino({ level: 'silent' }) })
  const code = (error: unknown) => (error as EngineError).code
  return {
    clock,
    guesses,
    wrong: (key: string, address = '10.0.0.1') => code(guesses.counted(unauthorized, `Bearer ${key}`, address)),
    refused(key: string, address = '10.0.0.1') {
      try {
        guesses.refuseSpent(`Bearer ${key}`, address)
        return undefined
      } catch (error) {
        return error as EngineError
      }
    },
    spend(address = '10.0.0.1') {
      for (let i = 0; i < WRONG_KEYS_MAX; i++) guesses.counted(unauthorized, `Bearer ${LONG}${i}`, address)
    },
  }
}

test('the first wrong keys are 401, further ones 429 with the time to wait', () => {
  const { wrong, guesses } = open()
  const codes = Array.from({ length: WRONG_KEYS_MAX + 2 }, (_, i) => wrong(`guess-${i}`))
  expect(codes).toEqual([...Array(WRONG_KEYS_MAX).fill('unauthorized'), 'rate_limited', 'rate_limited'])
  const refusal = guesses.counted(unauthorized, 'Bearer more', '10.0.0.1')
  expect(refusal).toMatchObject({ details: { retryAfterMs: WRONG_KEY_AGAIN_MS } })
})

test('after a while one more is taken, and in the end all', async () => {
  const { clock, spend, refused, wrong } = open()
  spend()
  expect(refused('short')).toMatchObject({ code: 'rate_limited' })
  await clock.advance(WRONG_KEY_AGAIN_MS)
  expect(refused('short')).toBeUndefined()
  expect([wrong('a'), wrong('b')]).toEqual(['unauthorized', 'rate_limited'])
  await clock.advance(WRONG_KEY_AGAIN_MS * WRONG_KEYS_MAX)
  expect(wrong('c')).toBe('unauthorized')
})

test('only keys that could be guessed are refused unseen: the others of an address come in', () => {
  const { spend, refused } = open()
  spend()
  expect(refused('k'.repeat(31))).toMatchObject({ code: 'rate_limited' })
  expect(refused('k'.repeat(32))).toBeUndefined()
  expect(refused('short', '10.0.0.2')).toBeUndefined()
})

test('a client that repeats its wrong key makes one guess', () => {
  const { wrong } = open()
  for (let i = 0; i < 100; i++) expect(wrong(i % 2 === 0 ? 'revoked' : 'mistyped')).toBe('unauthorized')
})

test('requests without a key, and other refusals, are no guesses', () => {
  const { guesses } = open()
  const forbidden = new EngineError('forbidden', 'a read key')
  for (let i = 0; i < 100; i++) {
    expect(guesses.counted(unauthorized, undefined, '10.0.0.1')).toBe(unauthorized)
    expect(guesses.counted(forbidden, `Bearer ${i}`, '10.0.0.1')).toBe(forbidden)
  }
  expect(guesses.size).toBe(0)
})

test('addresses in memory are bounded, and the ones that were quiet for longest are forgotten', () => {
  const { guesses, spend, refused } = open()
  spend('10.0.0.1')
  for (let i = 0; i < ADDRESSES_MAX - 1; i++) guesses.counted(unauthorized, 'Bearer x', `host-${i}`)
  expect(refused('short')).toBeDefined()
  for (let i = 0; i < 10; i++) guesses.counted(unauthorized, 'Bearer x', `late-${i}`)
  expect(guesses.size).toBe(ADDRESSES_MAX)
  expect(refused('short')).toBeUndefined()
})

test.each([
  ['10.1.2.3', '10.1.2.3'],
  ['::ffff:10.1.2.3', '10.1.2.3'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:db8::9', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  [undefined, ''],
])('%j counts as %j', (address, network) => {
  expect(networkOf(address)).toBe(network)
})
