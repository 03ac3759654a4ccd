import { describe, expect, test } from 'vitest'
import { aRun, messageOf, postJson, recordedData, refusal, testApp } from '../../../../../test/kit/http/test-app.ts'

const { app, store, seed } = await testApp()
/** Data of the last event recorded. */
const lastData = async () => (await recordedData(store)).at(-1)

const event = (data: string): string => `{"name":"n","data":${data}}`
const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)

describe('payloads keep their exact text', () => {
  test.each([
    ['12345678901234567890'],
    ['1.0'],
    ['1e2'],
    ['-0'],
    ['null'],
    ['false'],
    ['""'],
    ['"\\u0000"'],
    ['"\\ud800"'],
    ['"\\u00e9 é 😀 \\/"'],
    ['{"b":1,"a":2,"b":3}'],
    ['{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'],
    ['[ 1,\n\t2 ]'],
    ['{"a":"}]\\"{["}'],
  ])('data %s', async data => {
    const response = await postJson(app, '/events', event(data))
    expect(response.statusCode).toBe(202)
    const { eventId } = response.json()
    expect((await app.inject(`/events/${eventId}`)).body.endsWith(`,"data":${data}}`)).toBe(true)
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  test('the last of equal members counts, as it does for a parser', async () => {
    await postJson(app, '/events', '{"data":1,"name":"a","d\\u0061ta" : 2.50 ,"name":"b"}')
    const [row] = await store.in('default').events({ limit: 1 })
    expect(row?.event).toMatchObject({ name: 'b', data: '2.50' })
  })

  test('members of a __proto__ are not members of the body', async () => {
    expect(refusal(await postJson(app, '/events', '{"__proto__":{"name":"n"}}'))).toBe('400 invalid_request')
  })
})

describe('bodies that are no JSON', () => {
  test.each([
    ['cut off', '{"name":"n"'],
    ['two values', '{"name":"n"} {}'],
    ['single quotes', "{'name':'n'}"],
    ['NaN', '{"name":"n","data":NaN}'],
    ['a byte order mark', '\ufeff{"name":"n"}'],
    ['a raw control character', '{"name":"n","data":"\u0000"}'],
  ])('%s', async (_, text) => {
    const before = await recordedData(store)
    expect(refusal(await postJson(app, '/events', text))).toBe('400 invalid_json')
    expect(await recordedData(store)).toEqual(before)
  })

  test.each([
    ['{"name": "n",\n  "data": {a: 1}}', 'line 2, column 12', { line: 2, column: 12 }],
    ['{"name": "n"', 'it ends at line 1, column 13, where more is expected', { line: 1, column: 13 }],
  ])('%j: names the place', async (text, where, details) => {
    const { error } = (await postJson(app, '/events', text)).json()
    expect(error).toMatchObject({ message: `the body is not valid JSON: ${where}`, details })
  })

  test.each([
    ['a lone continuation byte', [0x80]],
    ['an overlong NUL', [0xc0, 0x80]],
    ['an encoded surrogate', [0xed, 0xa0, 0x80]],
    ['a cut character', [0xe2, 0x82]],
  ])('invalid UTF-8: %s', async (_, bytes) => {
    const payload = Buffer.concat([Buffer.from('{"name":"n","data":"'), Buffer.from(bytes), Buffer.from('"}')])
    const response = await postJson(app, '/events', payload)
    expect(refusal(response)).toBe('400 invalid_json')
    expect(messageOf(response)).toContain('UTF-8')
  })

  test('a refused body that was read to its end leaves the connection open', async () => {
    expect((await postJson(app, '/events', '{')).headers.connection).not.toBe('close')
  })
})

describe('depth', () => {
  test('a payload of 200 levels is accepted', async () => {
    expect((await postJson(app, '/events', event(nested(200)))).statusCode).toBe(202)
    expect(await lastData()).toBe(nested(200))
  })

  test.each([201, 10_000, 500_000])('a payload of %i levels is refused', async levels => {
    const response = await postJson(app, '/events', event(nested(levels)))
    expect(refusal(response)).toBe('400 invalid_json')
    expect(messageOf(response)).toContain('deeper than 200 levels')
  })

  test('brackets in strings are no levels', async () => {
    expect((await postJson(app, '/events', event(`"${'['.repeat(300)}"`))).statusCode).toBe(202)
  })
})

describe('size', () => {
  const sized = (bytes: number): string => event(`"${'x'.repeat(bytes - event('""').length)}"`)
  const MIB = 1024 * 1024

  test('POST /events takes 1 MiB and no byte more', async () => {
    expect((await postJson(app, '/events', sized(MIB))).statusCode).toBe(202)
    const response = await postJson(app, '/events', sized(MIB + 1))
    expect(refusal(response)).toBe('413 payload_too_large')
    expect(messageOf(response)).toContain('1048576')
  })

  test('POST /register takes 4 MiB and no byte more', async () => {
    const registration = (bytes: number): string => {
      const head = '{"app":"a","url":"http://r","workflows":[],"more":"'
      return `${head}${'x'.repeat(bytes - head.length - 2)}"}`
    }
    expect((await postJson(app, '/register', registration(4 * MIB))).statusCode).toBe(200)
    expect(refusal(await postJson(app, '/register', registration(4 * MIB + 1)))).toBe('413 payload_too_large')
  })

  test('control routes take 1 MiB', async () => {
    const body = `{"input":"${'x'.repeat(MIB)}"}`
    expect(refusal(await postJson(app, '/runs/run_1/replay', body))).toBe('413 payload_too_large')
  })
})

describe('content type', () => {
  const post = (headers: Record<string, string>, payload = '{"name":"n"}') =>
    app.inject({ method: 'POST', url: '/events', headers, payload })

  test.each([
    ['application/json'],
    ['application/json; charset=utf-8'],
    ['application/json;charset="UTF-8"'],
    ['Application/JSON ; charset=utf-8'],
  ])('%s is JSON', async type => {
    expect((await post({ 'content-type': type })).statusCode).toBe(202)
  })

  test.each([
    ['text/plain'],
    ['application/x-www-form-urlencoded'],
    ['application/jsonx'],
    ['application/json-patch+json'],
    ['text/plain; application/json'],
    ['nonsense'],
  ])('%s is not', async type => {
    expect(refusal(await post({ 'content-type': type }))).toBe('415 unsupported_media_type')
  })

  test('a body without one is refused: a web page could send it across origins', async () => {
    expect(refusal(await post({}))).toBe('415 unsupported_media_type')
  })

  test('an encoded body is refused', async () => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    expect(refusal(await post(headers))).toBe('415 unsupported_media_type')
    expect((await post({ ...headers, 'content-encoding': 'identity' })).statusCode).toBe(202)
  })

  test.each([
    [{}],
    [{ 'content-type': 'application/json' }],
    [{ 'content-type': 'text/plain' }],
    [{ 'content-type': 'nonsense' }],
    [{ 'content-type': '' }],
  ])('without a body none is needed: %j', async headers => {
    const id = `run_${JSON.stringify(headers).replace(/\W/g, '_')}`
    await seed({ type: 'run.created', run: aRun({ id }) })
    const response = await app.inject({ method: 'POST', url: `/runs/${id}/cancel`, headers })
    expect(response.statusCode).toBe(200)
  })
})
