// A bundle that a worker has read arrives unchanged in the page, to the last digit.

import { expect, it } from 'vitest'
import { sourceOf } from '../../data/json/parse.ts'
import { packBundle, unpackBundle } from './packed.ts'
import { readBundle } from './read-bundle.ts'

const AT = '2026-03-01T09:00:00Z'
const TEXT = `{"perdure-bundle":1,
  "run":{"id":"run_1","workflow":"order","app":"shop","status":"failed","createdAt":"${AT}",
    "input":{"amount":12345678901234567890,"b":1.0,"a":1},"error":{"message":"no","name":"Refused"},
    "progress":{"value":10000000000000000001,"at":"${AT}"}},
  "steps":[{"id":"a","name":"a","op":"StepRun","index":0,"status":"succeeded","attempt":1,"startedAt":"${AT}",
    "data":98765432109876543210}],
  "logs":[{"seq":1,"ts":"${AT}","level":"info","message":"hi","scope":"@root","attempt":1,"fields":{"n":1e2}},
    {"seq":2,"ts":"${AT}","level":"info","message":"ho","scope":"@root","attempt":1,"fields":{}}],
  "timeline":[{"kind":"run_status","seq":3,"ts":"${AT}","status":"failed"}],
  "truncated":{"section":"steps"}}`

it('keeps records, and the letters of payloads, over a message', () => {
  const before = readBundle(TEXT)
  const after = unpackBundle(structuredClone(packBundle(before)))
  expect(after).toMatchObject({ isBundle: true, truncatedIn: 'steps', originMs: before.originMs })
  expect(after.run).toMatchObject({ id: 'run_1', error: { message: 'no', name: 'Refused' } })
  expect(sourceOf(after.run.input)).toBe('{"amount":12345678901234567890,"b":1.0,"a":1}')
  expect(sourceOf(after.run.progress?.value)).toBe('10000000000000000001')
  expect(sourceOf(after.steps[0]?.data)).toBe('98765432109876543210')
  expect(sourceOf(after.steps[0])).toContain('"data":98765432109876543210')
  const fields = after.frames.map(frame => ('fields' in frame ? sourceOf(frame.fields) : undefined))
  expect(fields).toEqual(['{"n":1e2}', undefined, undefined])
})
