// JSON as nodes: nothing is lost on the way in and out, hostile texts included, and large values are folded.

import { describe, expect, it } from 'vitest'
import { addressIn } from './address.ts'
import { type JsonNode, memberOf, parseJson } from './parse.ts'
import { printJson } from './print.ts'
import { DEPTH_SHOWN, MEMBERS_SHOWN, NODES_SHOWN, treeRows } from './rows.ts'

describe('parseJson', () => {
  it('keeps numbers to the last digit, the order of keys and keys that repeat', () => {
    const text = '{"10":12345678901234567890,"2":1.0,"a":-0,"a":1e400,"__proto__":[true,null,"\\u202e"]}'
    expect(printJson(parseJson(text), false)).toBe(text.replace('\\u202e', '\u202e'))
    expect(memberOf(parseJson(text), 'a')).toEqual({ kind: 'number', source: '1e400' })
  })

  it('prints with indentation as JSON.stringify does', () => {
    const value = { a: [], b: {}, c: [1, { d: 'x\n' }], '': null }
    expect(printJson(parseJson(JSON.stringify(value)))).toBe(JSON.stringify(value, null, 2))
  })

  it('refuses what is not JSON', () => {
    const faults = [
      '',
      '{',
      '[1,]',
      '[,1]',
      '{"a":1,}',
      '{a:1}',
      '01',
      '1.',
      '"\n"',
      '[1 2]',
      '1 2',
      'nul',
      '}',
      '{"a"}',
    ]
    for (const text of faults) expect(() => parseJson(text), text).toThrow(SyntaxError)
  })

  it('reads deep and long texts without recursion', () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
    expect(printJson(parseJson(deep), false)).toBe(deep)
    const long = JSON.stringify('x\\"'.repeat(400_000))
    expect(printJson(parseJson(long))).toBe(long)
  })
})

describe('treeRows', () => {
  const first = { open: new Map<string, boolean>(), more: new Map<string, number>() }

  it('shows a small value whole, with its keys in order', () => {
    const rows = treeRows(parseJson('{"b":[1],"a":"x"}'), first)
    expect(rows.map(({ path, key, depth, isOpen }) => [path, key, depth, isOpen])).toEqual([
      ['', undefined, 0, true],
      ['0', 'b', 1, true],
      ['0.0', 0, 2, false],
      ['1', 'a', 1, false],
    ])
  })

  it('folds depth, long lists and large trees, and unfolds on request', () => {
    let deep: JsonNode = { kind: 'literal', source: 'null' }
    for (let i = 0; i < DEPTH_SHOWN + 5; i++) deep = { kind: 'array', items: [deep] }
    expect(treeRows(deep, first)).toHaveLength(DEPTH_SHOWN + 1)
    const list = parseJson(JSON.stringify(Array.from({ length: 5000 }, (_, i) => i)))
    expect(treeRows(list, first).at(-1)).toMatchObject({ path: '+', hidden: 5000 - MEMBERS_SHOWN })
    expect(treeRows(list, { ...first, more: new Map([['', 400]]) })).toHaveLength(402)
    const large = parseJson(JSON.stringify(Array.from({ length: 100 }, () => Array.from({ length: 99 }, () => 0))))
    const rows = treeRows(large, first)
    expect(rows.length).toBeLessThanOrEqual(NODES_SHOWN + 200)
    expect(treeRows(large, { ...first, open: new Map([['', false]]) })).toHaveLength(1)
  })
})

it.each([
  ['https://example.com/a?b=1', 'example.com'],
  ['HTTP://user@xn--e1afmkfd.example:81/', 'xn--e1afmkfd.example:81'],
  ['https://пример.example/', 'xn--e1afmkfd.example'],
  ['javascript:alert(1)', undefined],
  ['https://', undefined],
  ['see https://example.com', undefined],
  [`https://example.com/${'a'.repeat(2048)}`, undefined],
])('%s leads to the host %s', (text, host) => {
  expect(addressIn(text)?.host).toBe(host)
})
