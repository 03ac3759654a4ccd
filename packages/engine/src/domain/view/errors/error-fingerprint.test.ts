import { expect, test } from 'vitest'
import { run as aRun } from '../../testkit/nouns.testkit.ts'
import { errorFingerprint } from './error-fingerprint.ts'
import { maskedMessage } from './masked-message.ts'
import { ownStackFrames } from './own-stack-frames.ts'

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

test('exists only for failed runs, and depends on app, workflow, step, name, code and masked message', () => {
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

const V8 = (frames: string[]) => ['Error: no 7', ...frames.map(frame => `    at ${frame}`)].join('\n')

test.each([
  [
    'the innermost three, without lines, paths and packages',
    V8([
      'assertOk (/app/node_modules/assert/index.js:1:2)',
      'chargeCard (file:///app/src/charge.ts:7:11)',
      'async Object.pay [as run] (/srv/v2/src/pay.ts?t=17:1:1)',
      'new Order (C:\\app\\order.js:3:4)',
      'fourth (/app/fourth.js:1:1)',
      'process.processTicks (node:internal/process/task_queues:95:5)',
    ]),
    ['chargeCard charge.ts', 'pay pay.ts', 'Order order.js'],
  ],
  [
    'a recursion once',
    V8(['walk (/a/tree.js:1:1)', 'walk (/a/tree.js:2:1)', 'top (/a/main.js:1:1)']),
    ['walk tree.js', 'top main.js'],
  ],
  [
    'no minified names, and no hash of a bundle',
    V8(['a (/app/bundle-4f3a2b1c.js:1:90210)', '/app/main.js:1:1']),
    [' bundle-#.js', ' main.js'],
  ],
  [
    'other engines',
    'charge@file:///app/charge.js:7:11\npay@http://127.0.0.1:1/pay.js:1:2',
    ['charge charge.js', 'pay pay.js'],
  ],
  [
    'Python, whose innermost frame is the last',
    'Traceback (most recent call last):\n  File "/app/main.py", line 3, in main\n    pay()\n  File "/usr/lib/python3.12/http.py", line 1, in get\n  File "/app/pay.py", line 9, in pay\nValueError: no 7',
    ['pay pay.py', 'main main.py'],
  ],
  ['none where nothing is known', 'somewhere over the rainbow', []],
  ['none of the runtime alone', V8(['JSON.parse (<anonymous>)', 'run (node:vm:1:1)']), []],
] as const)('frames: %s', (_, stack, frames) => {
  expect(ownStackFrames(stack, 'no 7')).toEqual(frames)
})

test('the lines of a message are no frames of its stack', () => {
  const message = 'no:\n    at forged (/app/forged.js:1:1)'
  expect(ownStackFrames(`Error: ${message}\n    at real (/app/real.js:1:1)`, message)).toEqual(['real real.js'])
})

test('errors with one message are told apart by the code that threw them, and not by its lines', () => {
  const of = (stack: string | undefined) =>
    errorFingerprint(aRun({ status: 'failed', error: { message: 'no 7', name: 'Error', stack } as never }))
  const thrown = of(V8(['chargeCard (/app/charge.ts:7:11)']))
  expect(of(V8(['chargeCard (/srv/next/charge.ts:9:3)']))).toBe(thrown)
  expect(of(V8(['refund (/app/charge.ts:7:11)']))).not.toBe(thrown)
  expect(of(V8(['JSON.parse (<anonymous>)']))).toBe(of(undefined))
})

test('a stack of any form and length is read in a moment', () => {
  for (const text of ['at a (b:1:1)', 'a@b:1:1\n', '(', 'at ', 'File "a", line 1, in b\n', ':1', '@', '\n'])
    expect(ownStackFrames(text.repeat(200_000), 'x').length).toBeLessThan(4)
})
