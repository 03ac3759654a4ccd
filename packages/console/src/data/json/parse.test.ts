import { expect, test } from 'vitest'
import { BigNumber, parse, RawJson, sourceOf, stringify } from './parse.ts'

test('plain values are read as JSON.parse reads them', () => {
  const text = '{"a":[1,-0.5,2e3,true,false,null,"x\\u0041\\"\\\\"],"b":{},"c":[]," ":"\u{1f600}"}'
  expect(parse(text)).toEqual(JSON.parse(text))
  expect(parse(' [ 1 , 2 ] ')).toEqual([1, 2])
})

test('numbers, the order of keys and repeated keys are kept to the letter', () => {
  const text = '{"10":1,"2":{"n":12345678901234567890,"n":1.0},"x":0.1000}'
  const value = parse(text) as Record<string, { n: unknown }>
  expect(sourceOf(value)).toBe(text)
  expect(sourceOf(value['2'])).toBe('{"n":12345678901234567890,"n":1.0}')
  const big = parse('12345678901234567890')
  expect(big).toBeInstanceOf(BigNumber)
  expect(sourceOf(big)).toBe('12345678901234567890')
  expect(parse('[1.0,1e3,0.1,-0.50,9007199254740993]')).toEqual([1, 1000, 0.1, -0.5, new BigNumber('9007199254740993')])
})

test('text is sent as it is', () => {
  expect(stringify({ input: new RawJson('{"n":12345678901234567890}'), n: parse('1e400') })).toBe(
    '{"input":{"n":12345678901234567890},"n":1e400}',
  )
})

test.each(['', '{', '[1,]', '{"a"}', '01', '1 2', 'nul', '"a', "'a'", '{"a":1,}', '[1 2]', '"\n"'])(
  '%j is refused',
  text => {
    expect(() => parse(text)).toThrow(SyntaxError)
  },
)

test('a key cannot change a prototype, and depth has a bound', () => {
  const value = parse('{"__proto__":{"x":1}}') as { x?: unknown }
  expect(value.x).toBeUndefined()
  expect(Object.keys(value)).toEqual(['__proto__'])
  expect(() => parse('['.repeat(100_000))).toThrow('nested deeper')
})

test('a large payload keeps its text alone, and what is beside it is read', () => {
  const large = `[${'"]}\\"", {"a":1.0},'.repeat(20_000)} 0]`.replaceAll('"]}\\"",', '"]}\\"",')
  const run = parse(`{"id":"run_1","input": ${large} ,"result":[1.0],"x":2}`) as Record<string, unknown>
  expect(run.input).toBeInstanceOf(RawJson)
  expect(sourceOf(run.input)).toBe(large)
  expect([run.id, run.x, sourceOf(run.result)]).toEqual(['run_1', 2, '[1.0]'])
  expect(stringify(run)).toContain(large)
  expect(() => parse(`{"input":${large.slice(0, -1)}`)).toThrow(SyntaxError)
})
