// The update that a form of an endpoint or a receiver sends.

import { expect, test } from 'vitest'
import { changedOf } from './changed.ts'

const BEFORE = { url: 'https://a.example', name: 'ops', app: '', eventKinds: ['run.failed', 'run.cancelled'] }

test('only what was changed is sent', () => {
  expect(changedOf(BEFORE, { ...BEFORE, eventKinds: ['run.cancelled', 'run.failed'] })).toEqual({})
  expect(changedOf(BEFORE, { ...BEFORE, app: 'shop' })).toEqual({ app: 'shop' })
})

test('an optional field that was emptied is removed; a required one is sent empty, for the engine to refuse', () => {
  expect(changedOf(BEFORE, { url: '', name: '', app: '', eventKinds: [] })).toEqual({
    url: '',
    name: null,
    eventKinds: [],
  })
})
