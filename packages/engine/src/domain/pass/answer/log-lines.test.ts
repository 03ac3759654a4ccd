// Reading log lines (docs/wire-protocol.md#log-lines): a bad line is lost, and nothing else.

import { describe, expect, it } from 'vitest'
import { readLines } from './log-lines.ts'

const GOOD = '{"level":"info","message":"hi","scope":"@root","index":7}'
const read = (...lines: string[]) => {
  const text = ` {"data":1, "logs" : [ ${lines.join(' , ')} ] }`
  return readLines(JSON.parse(text), text)
}
const line = { level: 'info', message: 'hi', scope: '@root', index: 0 }

describe('a line as the protocol has it', () => {
  it('is read, without the members that are not stored', () => {
    const line = '{"level":"warn","message":"","scope":"pay","index":3,"tsMs":5,"later":true}'
    expect(read(line)).toEqual({ logs: [{ level: 'warn', message: '', scope: 'pay', index: 3, tsMs: 5 }] })
  })

  it.each([
    '{"n":9007199254740993}',
    '{ "huge" : 1e400 , "zero":-0,\n"price":1.50 }',
    '{"a":1,"a":2}',
    '{"text":"\\u0041\\u0000\\ud800"}',
  ])('keeps the fields %s to the letter', fields => {
    expect(read(GOOD, `{"level":"info","fields":${fields},"message":"hi","scope":"@root","index":8}`)).toEqual({
      logs: [
        { ...line, index: 7 },
        { ...line, index: 8, fields },
      ],
    })
  })
})

describe('a line with small faults', () => {
  it.each([
    ['null for no fields', '{"level":"info","message":"hi","fields":null,"scope":"@root","index":0}', {}],
    ['a time that is none', '{"level":"info","message":"hi","scope":"@root","index":0,"tsMs":"noon"}', {}],
    ['a level in capitals', '{"level":"INFO","message":"hi","scope":"@root","index":0}', {}],
    ['the level notice', '{"level":"notice","message":"hi","scope":"@root","index":0}', {}],
    ['the level warning', '{"level":"Warning","message":"hi","scope":"@root","index":0}', { level: 'warn' }],
    ['the level fatal', '{"level":"fatal","message":"hi","scope":"@root","index":0}', { level: 'error' }],
    ['no level', '{"message":"hi","scope":"@root","index":0}', {}],
    ['no scope', '{"level":"info","message":"hi","index":0}', {}],
    ['no index', '{"level":"info","message":"hi","scope":"@root"}', {}],
    ['an index that is none', '{"level":"info","message":"hi","scope":"@root","index":-1}', {}],
    ['fields beside it', '{"message":"hi","fields":{"n":1.0}}', { fields: '{"n":1.0}' }],
  ])('is read as it was meant: %s', (_, text, more) => {
    expect(read(text)).toEqual({ logs: [{ ...line, ...more }] })
  })

  it('follows the one before it in its scope when it has no index', () => {
    const bare = (scope: string) => `{"level":"info","message":"hi","scope":"${scope}"}`
    const indexes = read(bare('@root'), GOOD, bare('@root'), bare('pay'), bare('@root')).logs
    expect(indexes.map(({ scope, index }) => `${scope} ${index}`)).toEqual([
      '@root 0',
      '@root 7',
      '@root 8',
      'pay 0',
      '@root 9',
    ])
  })
})

describe('an unreadable line', () => {
  it.each([
    ['7', '/logs/1 must be an object'],
    ['null', '/logs/1 must be an object'],
    ['[]', '/logs/1 must be an object'],
    ['{"level":"info","scope":"@root","index":0}', '/logs/1 message must be a string'],
    ['{"level":"info","message":5,"scope":"@root","index":0}', '/logs/1 message must be a string'],
    ['{"level":"info","message":"","scope":5,"index":0}', '/logs/1 scope must be a string'],
    ['{"level":"loud","message":"","scope":"a","index":0}', '/logs/1 level must be debug, info, warn or error'],
    ['{"level":"toString","message":"","scope":"a"}', '/logs/1 level must be debug, info, warn or error'],
    ['{"level":30,"message":"","scope":"a"}', '/logs/1 level must be debug, info, warn or error'],
    ['{"message":"","fields":[1]}', '/logs/1 fields must be an object'],
  ])('is left out, and counted: %s', (text, problem) => {
    expect(read(GOOD, text, GOOD, '8')).toEqual({
      logs: [
        { ...line, index: 7 },
        { ...line, index: 7 },
      ],
      unread: { count: 2, problem },
    })
  })

  it.each(['{}', '5', '"text"'])('makes a list of none: %s', logs => {
    const text = `{"logs":${logs}}`
    expect(readLines(JSON.parse(text), text)).toEqual({
      logs: [],
      unread: { count: 1, problem: '/logs must be an array' },
    })
  })
})
