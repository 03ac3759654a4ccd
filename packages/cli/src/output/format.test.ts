// Text, colours, details and timeline lines.

import type { TimelineFrame } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { painter, wantsColour } from './colour.ts'
import { details } from './details.ts'
import { cut, forTerminal, jsonLine, prettyJson, widthOf } from './text.ts'
import { clockTime } from './time.ts'
import { eventLine, frameLine, frameLines, logLine, runStatusLine } from './timeline.ts'

const bare = painter(false)
const ts = '2026-03-04T05:06:07.089Z'
const time = clockTime(ts)

test('text is cut to its width, with an ellipsis', () => {
  expect(cut('abcdef', 6)).toBe('abcdef')
  expect(cut('abcdef', 5)).toBe('abcd…')
  expect(cut('日本語', 5)).toBe('日本…')
  expect(cut('日本語', 4)).toBe('日…')
  expect(cut('ab', 1)).toBe('…')
  expect(cut('ab', 0)).toBe('')
  expect(widthOf('aé日🎈')).toBe(6)
})

test('JSON for people keeps its lines, with control characters escaped', () => {
  expect(prettyJson({ a: ['\u009b31m\n'] })).toBe('{\n  "a": [\n    "\\u009b31m\\n"\n  ]\n}')
  expect(prettyJson(undefined)).toBe('')
})

test('JSON for programs holds nothing that a terminal interprets, and parses to the same value', () => {
  const value = { 'k\u009b2J': ['\u0000\u001b]0;x\u0007\u007f\u0080\u009f', '\u061c\u202e\u2066\u2028', 'ä☃🎈\n'] }
  const line = jsonLine(value)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
  expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u061c\u2028-\u202e\u2066-\u2069]/)
  expect(line).toContain('\\u009b2J')
  expect(line).toContain('ä☃🎈\\n')
  expect(JSON.parse(line)).toEqual(value)
  expect(jsonLine(undefined)).toBe('null')
})

test('a line keeps its colours and its ends, and nothing else that a terminal interprets', () => {
  const line = `${painter(true)('red', 'x')}\n`
  expect(forTerminal(line)).toBe(line)
  expect(forTerminal('a\u001b[2J\u001b]0;t\u0007\u009b1m\r')).toBe('a\\u001b[2J\\u001b]0;t\\u0007\\u009b1m\\r')
})

test('only terminals that want colours get them', () => {
  const terminal = { isTTY: true }
  expect(wantsColour(terminal, {})).toBe(true)
  expect(wantsColour(terminal, { NO_COLOR: '1' })).toBe(false)
  expect(wantsColour(terminal, { NO_COLOR: '' })).toBe(true)
  expect(wantsColour(terminal, { TERM: 'dumb' })).toBe(false)
  expect(wantsColour({}, {})).toBe(false)
  expect(painter(true)('red', 'x')).toBe('\u001b[31mx\u001b[0m')
  expect(painter(true)(undefined, 'x')).toBe('x')
})

test('details have aligned labels and leave out absent values', () => {
  expect(
    details(
      {
        lines: [
          ['id', 'a'],
          ['nothing', undefined],
          ['status', 'b\n'],
        ],
        json: [
          ['input', [1]],
          ['result', undefined],
        ],
      },
      bare,
    ),
  ).toEqual(['id      a', 'status  b\\n', '', 'input', '  [', '    1', '  ]'])
})

test.each<[TimelineFrame, string]>([
  [
    { kind: 'run_status', seq: 1, ts, runId: 'run_1', status: 'running', attempt: 2, currentStepName: 'pay' },
    'run   running    pay  attempt 2',
  ],
  [{ kind: 'run_status', seq: 1, ts, runId: 'run_1', status: 'succeeded', attempt: 1 }, 'run   succeeded'],
  [
    {
      kind: 'step_status',
      seq: 1,
      ts,
      runId: 'run_1',
      name: 'p\u0007',
      status: 'failed',
      attempt: 3,
      maxAttempts: 5,
      error: { message: 'no\nluck' },
    },
    'step  failed     p\\u0007  attempt 3 of 5  no\\nluck',
  ],
  [
    {
      kind: 'log',
      seq: 1,
      ts,
      runId: 'run_1',
      level: 'warn',
      message: 'careful',
      fields: { a: 1, b: 'x y' },
      scope: 'pay',
      attempt: 2,
    },
    'log   warn  [pay #2] careful a=1 b=x y',
  ],
])('a frame of kind $kind is one line', (frame, text) => {
  expect(frameLine(frame, bare)).toBe(`${time}  ${text}`)
})

test('a frame with an error shows its message, and its stack once', () => {
  const error = { message: 'no column', code: 'handler_failed' as const, stack: 'Error: no column\n    at x' }
  const frame = { kind: 'run_status' as const, seq: 1, ts, runId: 'run_1', status: 'waiting' as const, error }
  const lineOf = frameLines(bare)
  const line = `${time}  run   waiting    handler_failed: no column`
  expect(lineOf(frame)).toBe(`${line}\n    Error: no column\n        at x`)
  expect(lineOf({ ...frame, seq: 2 })).toBe(line)
})

test('lines of the namespace streams and of logs', () => {
  expect(logLine({ seq: 1, ts, level: 'info', message: 'm', scope: '@root', attempt: 1 }, bare)).toBe(
    `${time}  info  [@root] m`,
  )
  const frame = { kind: 'run_status', seq: 1, ts, runId: 'run_1', workflow: 'order', app: 'shop', attempt: 2 } as const
  expect(runStatusLine({ ...frame, status: 'waiting' }, bare)).toBe(`${time}  run_1  waiting    order  attempt 2`)
  const error = { message: 'no\nluck', code: 'step_failed', stepName: 'pay' } as const
  expect(runStatusLine({ ...frame, status: 'failed', error }, bare)).toBe(
    `${time}  run_1  failed     order  attempt 2  no\\nluck (step_failed in step "pay")`,
  )
  const event = {
    id: 'evt_1',
    name: 'n',
    source: 'api',
    receivedAt: ts,
    woke: 2,
    triggered: [
      { workflow: 'w', app: 'a', runId: 'run_1' },
      { workflow: 'x', app: 'a' },
    ],
  } as const
  expect(eventLine({ ...event, triggered: [...event.triggered] }, bare)).toBe(`${time}  evt_1  n  started 1, woke 2`)
  expect(eventLine({ ...event, woke: 0, triggered: [] }, bare)).toBe(`${time}  evt_1  n  no effect`)
})
