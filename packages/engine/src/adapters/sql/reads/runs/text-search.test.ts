import { describe, expect, it } from 'vitest'
import { toStored } from '../../description/stored-text.ts'
import { folded, jsonHas, textHas } from './text-search.ts'

const inText = (needle: string, ...texts: (string | null)[]) => textHas(toStored(folded(needle)), texts)
const inJson = (needle: string, json: string | null) => jsonHas(toStored(folded(needle)), [json])

describe('textHas', () => {
  it('finds a part of any of the texts, in upper or lower case', () => {
    expect(inText('ORDER', 'run_1', 'place-order', 'shop')).toBe(true)
    expect(inText('übersicht', 'Bestell-ÜBERSICHT')).toBe(true)
    expect(inText('nothing', 'run_1', null)).toBe(false)
  })

  it.each(['%', '_', '*', '\\', '.'])('takes %s literally', needle => {
    expect(inText(needle, 'plain')).toBe(false)
    expect(inText(needle, `a${needle}b`)).toBe(true)
  })

  it('does not match across two texts', () => {
    expect(inText('ab', 'a', 'b')).toBe(false)
  })

  it('reads what is stored behind a mark', () => {
    expect(inText('a\0B', toStored('xA\0by'))).toBe(true)
    expect(inText('\ud800', toStored('x\ud800y'))).toBe(true)
    expect(inText('ud800', toStored('x\ud800y'))).toBe(false)
  })
})

describe('jsonHas', () => {
  it.each([
    ['zoë', '{"name":"ZOË"}'],
    ['zoë', '{"name":"Zo\\u00eb"}'],
    ['say "hi"', '{"text":"Say \\"HI\\""}'],
    ['a/b', '"a\\/b"'],
    ['two\nlines', '"two\\nlines"'],
    ['c:\\temp', '"C:\\\\temp"'],
    ['😀', '"\\ud83d\\ude00"'],
    ['"orderid":42', '{"orderId":42}'],
    ['\\n', '"two\\nlines"'],
    ['null', 'null'],
  ])('%j is in %s', (needle, json) => {
    expect(inJson(needle, json)).toBe(true)
  })

  it.each([
    ['\n', '"C:\\\\new"'],
    ['x', '"\\u00eb"'],
    ['a', null],
  ])('%j is not in %s', (needle, json) => {
    expect(inJson(needle, json)).toBe(false)
  })
})
