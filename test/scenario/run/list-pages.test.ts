// The pagination rules of `GET /runs`, one by one (docs/concepts.md#lists-and-cursors).

import { describe, expect, test } from 'vitest'
import { allPages, page, RunHistory } from '../../kit/engine/run-history.ts'
import { unique } from '../../kit/index.ts'

const SORTS = ['started', 'workflow', 'status', 'app', 'duration']
const ORDERS = SORTS.flatMap(sort => ['desc', 'asc'].map(dir => `sort=${sort}&dir=${dir}`))

const history = await RunHistory.open()
const { api } = history

/** Runs of a new app. Some are equal in every sort key. */
async function stocked(count: number): Promise<{ app: string; ids: string[] }> {
  const app = unique('app')
  await history.runner(app, ['one', 'two'])
  const ids: string[] = []
  for (let i = 0; i < count; i++) {
    const ends = i % 3 === 0 ? 'failed' : 'succeeded'
    ids.unshift((await history.run(app, i % 2 ? 'one' : 'two', { ends, lastsMs: i % 4 })).id)
  }
  return { app, ids }
}

/** The app of most tests, and its runs. */
const { app, ids } = await stocked(5)

describe('rule 1: up to limit items, and X-Next-Cursor only when more rows exist', () => {
  test('of 5', async () => {
    for (const [limit, length, isMore] of [
      [1, 1, true],
      [4, 4, true],
      [5, 5, false],
      [6, 5, false],
    ] as const)
      for (const order of ORDERS) {
        const { ids, cursor } = await page(api, `app=${app}&${order}&limit=${limit}`)
        expect(ids, `${order} ${limit}`).toHaveLength(length)
        expect(cursor !== undefined, `${order} ${limit}`).toBe(isMore)
      }
  })

  test('rows that the filter excludes do not count', async () => {
    const failed = (await page(api, `app=${app}&status=failed&limit=2`)).cursor
    expect(failed).toBeUndefined()
    expect((await page(api, `app=${app}&q=two&limit=3`)).cursor).toBeUndefined()
    expect((await page(api, `app=${app}&q=two&limit=2`)).cursor).toBeDefined()
    expect(await page(api, `app=${unique('none')}`)).toEqual({ runs: [], ids: [], cursor: undefined })
  })
})

describe('rule 2: the cursor returns the next page', () => {
  test('older in the default order', async () => {
    const first = await page(api, `app=${app}&limit=2`)
    const second = await page(api, `app=${app}&limit=2&cursor=${first.cursor}`)
    const third = await page(api, `app=${app}&limit=2&cursor=${second.cursor}`)
    expect([first.ids, second.ids, third.ids]).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)])
    expect(third.cursor).toBeUndefined()
  })

  test('in every order, whatever the page size, and the page size may change', async () => {
    const { app } = await stocked(12)
    for (const order of ORDERS) {
      const whole = (await page(api, `app=${app}&${order}`)).ids
      expect(new Set(whole).size).toBe(12)
      for (const limit of [1, 5, 11]) {
        expect(await allPages(api, `app=${app}&${order}`, limit), `${order} ${limit}`).toEqual(whole)
      }
      const { cursor } = await page(api, `app=${app}&${order}&limit=3`)
      expect((await page(api, `app=${app}&${order}&limit=200&cursor=${cursor}`)).ids).toEqual(whole.slice(3))
    }
  })
})

describe('rule 3: paging neither skips nor repeats rows when new runs arrive', () => {
  test.each(ORDERS)('%s', async order => {
    const { app, ids } = await stocked(7)
    const before = (await page(api, `app=${app}&${order}`)).ids
    const met: string[] = []
    let at = ''
    for (;;) {
      const { ids: some, cursor } = await page(api, `app=${app}&${order}&limit=2${at}`)
      met.push(...some)
      if (cursor === undefined) break
      at = `&cursor=${cursor}`
      if (met.length < 40) await history.run(app, 'one', { lastsMs: met.length % 4 })
    }
    const stayed = new Set(ids)
    expect(met.filter(id => stayed.has(id))).toEqual(before)
    expect(new Set(met).size).toBe(met.length)
  })
})

describe('rule 4: a cursor is tied to its sort and dir, and to its filters', () => {
  test('any other is 400 invalid_cursor', async () => {
    const others = ['status=failed', 'runType=event', 'q=o', 'q=o&deep=1', 'since=2031-01-01T00:00:00Z']
    for (const order of ORDERS) {
      const { cursor } = await page(api, `app=${app}&${order}&limit=1`)
      for (const other of ORDERS.filter(other => other !== order)) {
        const answer = await api.get(`/runs?app=${app}&${other}&cursor=${cursor}`)
        expect(answer, `${order} -> ${other}`).toMatchObject({ status: 400, code: 'invalid_cursor' })
      }
      for (const other of [`app=${app}x`, ...others.map(added => `app=${app}&${added}`), '']) {
        const answer = await api.get(`/runs?${other}&${order}&cursor=${cursor}`)
        expect(answer, `${order} ${other}`).toMatchObject({ status: 400, code: 'invalid_cursor' })
      }
    }
  })

  test('the default order by name is the same order', async () => {
    const { cursor } = await page(api, `app=${app}&limit=1`)
    const named = await page(api, `app=${app}&sort=started&dir=desc&deep=1&cursor=${cursor}`)
    expect(named.ids).toEqual(ids.slice(1))
  })
})

describe('rule 5: without deep, q searches id, workflow and app only', () => {
  test('and with both, pages continue where the last one stopped', async () => {
    const app = unique('app')
    await history.runner(app, ['one', 'two'])
    const needle = unique('needle')
    for (let i = 0; i < 5; i++) await history.run(app, 'one', { result: i % 2 ? needle : 'hay' })
    expect(await allPages(api, `app=${app}&q=${needle}`, 1)).toEqual([])
    expect(await allPages(api, `app=${app}&q=${needle}&deep=1`, 1)).toHaveLength(2)
    expect(await allPages(api, `app=${app}&q=${app}&deep=1`, 2)).toHaveLength(5)
  })
})
