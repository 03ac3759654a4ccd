// Hostile parameters, ids, cursors and headers: always a 4xx that says why, or a regular answer if the input is in fact allowed.
// Never a 500, never a hang. The cases are derived from the operations, so a new route is covered at once.

import type { RunSummary } from '@perdure/protocol'
import {
  errorsOf,
  type ListedOperation,
  type Operation,
  operationList,
  operations,
  type QueryParam,
} from '@perdure/protocol/operations'
import { describe, expect, test } from 'vitest'
import { Attacked, expectEither, expectRefusal, expectVerdict } from '../../kit/http/attack.ts'
import { BROKEN_ESCAPES, forgeries, HOSTILE_TEXTS, HOSTILE_VALUES } from '../../kit/http/hostile.ts'
import { flow, PlainRunner, run } from '../../kit/index.ts'
import { ENTRIES } from '../admin/access.entries.ts'

const attacked = await Attacked.open()
const { api } = attacked
const all = operationList
const asking = all.filter(({ query }) => query !== undefined)
const withId = all.filter(({ path }) => path.includes('{'))

/** Whether a parameter may have this text, by the rules of its kind. */
function allows(param: QueryParam, text: string): boolean {
  switch (param.kind) {
    case 'name':
      return text.trim() !== '' && [...text].length <= param.maxLength && !/\p{Cc}/u.test(text)
    case 'pattern':
      return new RegExp(param.pattern, 'u').test(text)
    case 'text':
      return [...text].length <= param.maxLength
    case 'enum':
      return param.values.includes(text)
    case 'enums':
      return text.split(',').every(value => param.values.includes(value))
    case 'names':
      return text.split(',').every(value => allows({ ...param, kind: 'name' }, value))
    case 'attributes':
      return /^[\w.-]{1,64}:/.test(text) && [...text.slice(text.indexOf(':') + 1)].length <= 256
    case 'integer':
      return /^[+-]?\d+$/.test(text)
    case 'timestamp':
      return false
    case 'duration':
      return (
        /^\d+(\.\d+)?$/.test(text) &&
        Number(text) <= param.maximumMs &&
        (Number(text) >= (param.minimumMs ?? 0) || Number(text) === param.default)
      )
    case 'flag':
      return text === '0' || text === '1'
  }
}

/** Checks that the text was taken literally. As a pattern it would find something, but nothing here has such a name. */
function expectLiteral(found: unknown, query: { name: string; param: QueryParam; text: string }): void {
  const { name, param, text } = query
  if (!Array.isArray(found)) return
  // A time span without runs or posts is still a point of a series.
  const rows = found.filter(
    row => !('at' in row && (row.started ?? 0) + row.succeeded + row.failed + (row.cancelled ?? 0) === 0),
  )
  if (param.kind === 'name' || param.kind === 'names') expect(rows, `${name}=${text}`).toEqual([])
  if (name !== 'q') return
  for (const { id, workflow, app } of found as RunSummary[]) {
    expect(`${id} ${workflow} ${app}`.toLowerCase()).toContain(text.toLowerCase())
  }
}

/** Whether a request with one valid parameter is valid: the operation needs no other parameter and no body. */
const isWholeByQuery = ({ id, body }: ListedOperation) =>
  (ENTRIES[id]?.query === undefined || ENTRIES[id]?.takesAnyParameter === true) && !body?.required

describe('parameters', () => {
  test.each(asking)('$id: every text in every parameter', async operation => {
    for (const [name, param] of Object.entries(operation.query ?? {})) {
      for (const text of HOSTILE_TEXTS) {
        const answer = await attacked.attack(operation, { query: `?${name}=${encodeURIComponent(text)}` })
        const what = `${name}=${JSON.stringify(text).slice(0, 80)}`
        if (name === 'cursor') expect(expectRefusal(answer), what).toMatch(/^invalid_(cursor|request)$/)
        // An operation that needs a parameter refuses every other parameter alone, and none of the texts is such a value.
        else expectVerdict(answer, operation, isWholeByQuery(operation) && allows(param, text))
        if (answer.status === 200) expectLiteral(answer.json, { name, param, text })
      }
    }
  })

  test.each(asking)('$id: broken escapes, parameters given twice or as lists, and strange names', async operation => {
    for (const [name, param] of Object.entries(operation.query ?? {})) {
      for (const broken of BROKEN_ESCAPES) {
        expectEither(await attacked.attack(operation, { query: `?${name}=${broken}` }), operation)
      }
      const twice = await attacked.attack(operation, { query: `?${name}=1&${name}=1` })
      expectVerdict(twice, operation, isWholeByQuery(operation) && param.kind === 'names')
      expectEither(await attacked.attack(operation, { query: `?${name}[]=1&${name}[x]=1` }), operation)
      expectEither(await attacked.attack(operation, { query: `?${name}` }), operation)
    }
    for (const query of [
      '?__proto__=1',
      '?constructor=1&toString=1',
      '?=&&&=',
      '??',
      '?%zz=1',
      `?${'a&'.repeat(2000)}`,
    ]) {
      expectEither(await attacked.attack(operation, { query }), operation)
    }
  })

  test.each(all)(
    '$id: an unknown parameter is refused by name, where the operation does not take any',
    async operation => {
      const [known = 'limit'] = Object.keys(operation.query ?? {})
      const misspelt = `${known}s`
      const answer = await attacked.attack(operation, { query: `?${misspelt}=1` })
      if (operation.anyQuery) return expect(answer.text).not.toContain(misspelt)
      expect(expectRefusal(answer)).toBe('invalid_request')
      const end = operation.query ? `; did you mean "${known}"?` : ''
      const message = `"${misspelt}" is not a query parameter of ${operation.method} ${operation.path}${end}`
      expect(answer.json).toMatchObject({ error: { message, details: { field: misspelt } } })
      if (operation.reply.stream) return
      expect((await attacked.attack(operation, { query: '?_trace=1' })).text).not.toContain('_trace')
    },
  )

  test('names that are patterns in other languages are plain text', async () => {
    const runner = new PlainRunner({ app: 'pat%ern', workflows: { a_b: flow([run('say')]) } })
    await runner.listen()
    await runner.register(api)
    const { runId } = await api.send({ name: 'a_b' })
    await api.succeeded(runId)
    const found = async (query: string) => (await api.runs(query)).map(({ id }) => id)
    expect(await found('?app=pat%25ern')).toEqual([runId])
    expect(await found('?app=pat%25')).toEqual([])
    expect(await found('?q=a_b')).toEqual([runId])
    expect(await found('?q=T%25E')).toEqual([runId])
    expect(await found('?q=___')).toEqual([])
  })
})

describe('ids', () => {
  test.each(withId)('$id: hostile ids are not found', async operation => {
    for (const text of HOSTILE_TEXTS.filter(text => text !== '')) {
      const answer = await attacked.attack(operation, { id: encodeURIComponent(text) })
      expect(expectRefusal(answer), JSON.stringify(text).slice(0, 80)).toMatch(
        /^(not_found|invalid_request|unauthorized)$/,
      )
    }
    for (const broken of BROKEN_ESCAPES) {
      expect(expectRefusal(await attacked.attack(operation, { id: broken }))).toBe('invalid_request')
    }
    expectRefusal(await attacked.attack(operation, { id: '' }))
  })
})

describe('cursors', () => {
  const lists = all.filter(({ reply }) => reply.pages)
  const next = async (path: string) => (await api.get(path)).headers.get('x-next-cursor') ?? ''
  const refused = async (operation: Operation, cursor: string, more = '') => {
    const answer = await attacked.attack(operation, { query: `?cursor=${encodeURIComponent(cursor)}${more}` })
    expect(expectRefusal(answer), cursor).toBe('invalid_cursor')
  }

  test.each(lists)('$id: garbage, and cursors of another list or filter, are refused', async operation => {
    const others = await Promise.all(
      lists.filter(other => other !== operation).map(({ path }) => next(`${path}?limit=1`)),
    )
    for (const cursor of ['x', '=', 'null', 'e30', 'W10', 'bnVsbA', 'A'.repeat(4000), ...others]) {
      await refused(operation, cursor)
    }
    const mine = await next(`${operation.path}?limit=1`)
    if (mine === '') return
    expect((await attacked.attack(operation, { query: `?cursor=${mine}` })).status).toBe(200)
    const filter = Object.entries(operation.query ?? {}).find(([name, { kind }]) => kind === 'name' && name !== 'q')
    if (filter) await refused(operation, mine, `&${filter[0]}=another`)
    for (const length of [1, mine.length >> 1, mine.length - 1]) await refused(operation, mine.slice(0, length))
    await refused(operation, `${mine}A`)
    await refused(operation, `${mine}==`)
  })

  test.each(lists)('$id: cursors with forged contents', async operation => {
    const mine = await next(`${operation.path}?limit=1`)
    if (mine === '') return
    const whole = JSON.parse(Buffer.from(mine, 'base64url').toString('utf8'))
    for (const value of HOSTILE_VALUES) {
      for (const forged of forgeries(whole, value)) {
        const cursor = Buffer.from(JSON.stringify(forged)).toString('base64url')
        expectEither(await attacked.attack(operation, { query: `?cursor=${cursor}` }), operation)
      }
    }
  })
})

describe('methods, keys and headers', () => {
  test.each(all)('$id: by another method', async operation => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'QUERY', 'PURGE']) {
      // `/runs/bulk-replay` is a separate path, but a GET of it requests a run of that name.
      const offered = all.filter(other => other.method === method && matches(other.path, operation.path))
      if (offered.some(({ path }) => matches(operation.path, path))) continue
      const code = expectRefusal(await attacked.attack(operation, { method }))
      if (offered.length === 0) expect(code).toBe('method_not_allowed')
    }
  })

  /** Whether a path with placeholders matches another path. */
  function matches(pattern: string, path: string): boolean {
    return new RegExp(`^${pattern.replace(/\{\w+\}/g, '[^/]+')}$`).test(path)
  }

  test.each(all.filter(({ access }) => access !== 'public'))('$id: with something like a key', async operation => {
    const tries = [
      '',
      'Bearer',
      'Bearer ',
      'Basic eDp5',
      attacked.key,
      `Bearer ${attacked.key}x`,
      `Bearer ${attacked.key},${attacked.key}`,
      `Bearer ${'x'.repeat(8000)}`,
      'Bearer \u00ff',
      'Bearer __proto__',
    ]
    for (const authorization of tries) {
      const answer = await attacked.attack(operation, { headers: { authorization } })
      expect(expectRefusal(answer, errorsOf(operation)), authorization).toBe('unauthorized')
    }
  })

  test('Last-Event-ID', async () => {
    for (const text of ['x', '-', '1.5', '1e3', "' OR 1=1", '\u00ff', 'null']) {
      const answer = await attacked.attack(operations.streamRun, { headers: { 'last-event-id': text } })
      expect(expectRefusal(answer), text).toBe('invalid_request')
    }
    // The run has ended, so after its last frame there is nothing to stream.
    for (const [text, status] of [
      ['', 200],
      ['-1', 200],
      ['9'.repeat(400), 204],
    ] as const) {
      const answer = await attacked.attack(operations.streamRun, { headers: { 'last-event-id': text } })
      expect(answer.status, text).toBe(status)
    }
  })
})

test('after all that the engine still works', async () => {
  expect(attacked.attacks).toBeGreaterThan(150)
  await attacked.greet()
  expect((await api.get('/readyz')).status).toBe(200)
})
