// RequestPermits: requests wait for permits, their callers take turns, and aborted requests leave.

import { expect, test } from 'vitest'
import { type Caller, RequestPermits, type RequestPermitsOptions } from './request-permits.ts'

const own: Caller = { namespace: 'own' }
const other: Caller = { namespace: 'other' }
const { signal } = new AbortController()
const WAITING_MAX = { all: 100, perNamespace: 100, perKey: 100, bytes: 1000 }

const turns = async () => {
  for (let i = 0; i < 10; i++) await undefined
}

function opened(options: Partial<RequestPermitsOptions> = {}) {
  const permits = new RequestPermits({ max: () => 2, waitingMax: WAITING_MAX, refusal: 'too many', ...options })
  const begun: string[] = []
  const take = async (name: string, waiting: Partial<Parameters<RequestPermits['take']>[0]> = {}) => {
    await permits.take({ caller: own, signal, ...waiting })
    begun.push(name)
  }
  return { permits, begun, take }
}

test('a permit is free at once only while nobody waits, and callers take turns', async () => {
  const { permits, begun, take } = opened({ max: () => 1 })
  expect(permits.tryTake()).toBe(true)
  expect(permits.tryTake()).toBe(false)
  const all = [take('own 1'), take('own 2'), take('own 3'), take('other', { caller: other })]
  for (let i = 0; i < 4; i++) {
    permits.giveBack()
    await turns()
    expect(begun).toHaveLength(i + 1)
    expect(permits.tryTake()).toBe(false)
  }
  expect(begun).toEqual(['own 1', 'other', 'own 2', 'own 3'])
  await Promise.all(all)
})

test('a namespace with many keys has no more turns than one with a single key', async () => {
  const { permits, begun, take } = opened({ max: () => 1 })
  const [one, two] = ['one', 'two'].map(keyId => ({ namespace: 'own', keyId })) as [Caller, Caller]
  await take('first')
  const all = [take('one 1', { caller: one }), take('one 2', { caller: one }), take('two', { caller: two })]
  all.push(take('other 1', { caller: other }), take('other 2', { caller: other }))
  for (let i = 0; i < 5; i++) {
    permits.giveBack()
    await turns()
  }
  expect(begun).toEqual(['first', 'one 1', 'other 1', 'two', 'other 2', 'one 2'])
  await Promise.all(all)
})

test('a request of many permits begins when one is free, and others begin when it has given back enough', async () => {
  const { permits, begun, take } = opened()
  await take('one')
  await take('two')
  const last = [take('batch', { count: 5 }), take('last')]
  permits.giveBack()
  await turns()
  expect(begun).toEqual(['one', 'two', 'batch'])
  permits.giveBack()
  await turns()
  expect(begun).toHaveLength(3)
  permits.giveBack(5)
  await Promise.all(last)
  expect(permits.tryTake()).toBe(true)
})

test('when the number of permits falls, none is given until enough are back; when it rises, several are', async () => {
  let max = 3
  const { permits, begun, take } = opened({ max: () => max })
  const all = ['a', 'b', 'c', 'd', 'e', 'f'].map(name => take(name))
  await turns()
  max = 1
  permits.giveBack()
  permits.giveBack()
  await turns()
  expect(begun).toEqual(['a', 'b', 'c'])
  max = 3
  permits.giveBack()
  await Promise.all(all)
  expect(begun).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
})

test('a request that is aborted while it waits never begins, and leaves its place to others', async () => {
  const { permits, begun, take } = opened({ max: () => 1, waitingMax: { ...WAITING_MAX, all: 2, perKey: 1 } })
  const caller = { ...own, keyId: 'leaving' }
  await take('first')
  const leaving = new AbortController()
  const gone = take('gone', { caller, signal: leaving.signal, bytes: 500 })
  const all = [take('stays')]
  leaving.abort(new Error('left'))
  await expect(gone).rejects.toThrow('left')
  expect(permits.waiting).toBe(1)
  all.push(take('next', { caller, bytes: 500 }))
  for (let i = 0; i < 2; i++) permits.giveBack()
  await Promise.all(all)
  expect(begun).toEqual(['first', 'stays', 'next'])
})

test('beyond the bounds of a key, a namespace and all, the next is refused, and a sender of another may wait', async () => {
  const waitingMax = { all: 4, perNamespace: 3, perKey: 2, bytes: 1000 }
  const { permits, begun, take } = opened({ max: () => 1, waitingMax })
  const refused = { code: 'overloaded', message: 'too many' }
  const [one, two] = ['one', 'two'].map(keyId => ({ namespace: 'own', keyId })) as [Caller, Caller]
  await take('first', { caller: one })
  const all = [take('a', { caller: one }), take('b', { caller: one })]
  await expect(take('key is full', { caller: one })).rejects.toMatchObject(refused)
  all.push(take('c', { caller: two }))
  await expect(take('namespace is full', { caller: two })).rejects.toMatchObject(refused)
  all.push(take('d', { caller: other }))
  await expect(take('all is full', { caller: other })).rejects.toMatchObject(refused)
  for (let i = 0; i < 4; i++) permits.giveBack()
  await Promise.all(all)
  expect(begun).toEqual(['first', 'a', 'd', 'c', 'b'])
})

test('the bytes that wait are bounded, and a namespace has half of those that others leave', async () => {
  const { permits, take } = opened({ max: () => 1 })
  await take('first', { bytes: 5000 })
  const all = [take('half', { bytes: 500 })]
  await expect(take('more', { bytes: 1 })).rejects.toMatchObject({ code: 'overloaded' })
  await expect(take('too large', { caller: other, bytes: 251 })).rejects.toMatchObject({ code: 'overloaded' })
  all.push(take('quarter', { caller: other, bytes: 250 }))
  for (let i = 0; i < 2; i++) permits.giveBack()
  await Promise.all(all)
  const later = take('later', { bytes: 500 })
  permits.giveBack()
  await later
})
