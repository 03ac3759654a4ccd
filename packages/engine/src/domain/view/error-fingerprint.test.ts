import { expect, test } from 'vitest'
import { run as aRun } from '../testkit/nouns.testkit.ts'
import { errorFingerprint, maskedMessage } from './error-fingerprint.ts'

test.each([
  ['order 4711 not found', 'order # not found'],
  ['order "4711" of \'ann\' not found', 'order "…" of "…" not found'],
  ['user 9f86d081-884c-4d9b-b1a2-aaaaaaaaaaaa is gone', 'user # is gone'],
  ['commit deadbeefcafe in run_01K5ABC', 'commit # in #'],
  ["can't reach it, won't try", "can't reach it, won't try"],
  ['timeout after 1.5s at 10.0.0.1:8080', 'timeout after #.# at #.#.#.#:#'],
  ['customer Ada Lovelace has no card', 'customer … has no card'],
  ['customer Anna-Lena O’Brien has no card', 'customer … has no card'],
  ['customer John F. Kennedy has no card', 'customer … has no card'],
  ['no account for ada@example.com', 'no account for …'],
  ['GET https://shop.example/orders/ada?x=1 failed', 'GET … failed'],
  ['ENOENT: no such file, open /home/ada/Report.pdf', 'ENOENT: no such file, open …'],
  ['lookup failed for customer=ada, region=eu', 'lookup failed for customer=…, region=…'],
  ['order of Müller in Zürich was refused', 'order of … in … was refused'],
  ['Bad Gateway', 'Bad Gateway'],
  ['Payment failed: Card declined', 'Payment failed: Card declined'],
  ['read ECONNRESET in TypeError', 'read ECONNRESET in TypeError'],
])('%s', (message, masked) => {
  expect(maskedMessage(message)).toBe(masked)
})

test('a message of any length is masked in a moment', () => {
  for (const text of ['a', '"', "'", '`', '0', 'a1', 'f-', 'a A', 'Ab ', 'x@', '/a', 'a=', 'A. ']) {
    expect(maskedMessage(text.repeat(1_000_000)).length).toBeLessThan(2000)
  }
})

test('is that of failed runs alone, and depends on app, workflow, step, name, code and masked message', () => {
  const error = { message: 'no 7', name: 'TypeError', code: 'step_failed', stepName: 'charge' } as const
  const run = aRun({ status: 'failed', error })
  const fingerprint = errorFingerprint(run)
  expect(fingerprint).toMatch(/^[0-9a-f]{16}$/)
  expect(errorFingerprint({ ...run, id: 'run_2', error: { ...error, message: 'no 8', stack: 'at x' } })).toBe(
    fingerprint,
  )
  const others = [
    { ...run, app: 'other' },
    { ...run, workflow: 'other' },
    ...[{ stepName: 'refund' }, { name: 'Error' }, { code: 'timeout' as const }, { message: 'no' }].map(change => ({
      ...run,
      error: { ...error, ...change },
    })),
  ]
  expect(new Set([fingerprint, ...others.map(errorFingerprint)]).size).toBe(others.length + 1)
  expect(errorFingerprint({ ...run, status: 'cancelled' })).toBeUndefined()
  expect(errorFingerprint({ ...run, error: undefined })).toBeUndefined()
})
