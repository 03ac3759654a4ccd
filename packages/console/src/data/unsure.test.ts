import { ApiError, ConnectionError } from '@perdure/client'
import { expect, test } from 'vitest'
import { withUnsure } from './unsure.ts'

const lost = new ConnectionError('http://engine', 'cannot reach the engine')
const answered = (status: number, code: string) =>
  new ApiError({ status, code, message: 'no', details: {}, requestId: undefined })

test('a write without an answer may have been done; a secret that it made is gone', () => {
  const said = (id: Parameters<typeof withUnsure>[1], body: object) => withUnsure(lost, id, { body }).message
  const done = `${lost.message}. It may have succeeded: check before you retry.`
  expect(said('replayRun', {})).toBe(done)
  expect(said('createApiKey', {})).toBe(`${done} If it was created, its secret was not shown: delete it.`)
  expect(said('createWebhookReceiver', { secret: 'mine' })).toBe(done)
  expect(said('updateWebhookEndpoint', { rotateSecret: true })).toBe(
    `${done} The new secret was not shown: rotate it again.`,
  )
  expect(withUnsure(answered(502, 'http_502'), 'replayRun', {}).message).toContain('It may have succeeded')
})

test('an answer of the engine, and a dry run, leave nothing open', () => {
  for (const error of [answered(503, 'unavailable'), answered(404, 'http_404')])
    expect(withUnsure(error, 'replayRun', {})).toBe(error)
  expect(withUnsure(lost, 'startBulk', { body: { dryRun: true } })).toBe(lost)
})
