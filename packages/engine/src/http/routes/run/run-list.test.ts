import { describe, expect, test } from 'vitest'
import { aRun, eventually, messageOf, refusal, testApp } from '../../http.testkit.ts'

const T = Date.parse('2024-01-02T03:04:05.678Z')

function stocked(count: number) {
  const { app, faces } = testApp()
  for (let i = 1; i <= count; i++)
    faces.shelf().runRows.set(`run_${i}`, aRun({ id: `run_${i}`, createdAt: T + i }))
  return { app, faces }
}

const ids = (response: { body: string }): string[] =>
  JSON.parse(response.body).map((run: { id: string }) => run.id)

describe('GET /runs', () => {
  test('answers summaries', async () => {
    const { app, faces } = testApp()
    faces
      .shelf()
      .runRows.set('run_1', aRun({ input: '1', result: '2', waitingFor: { kind: 'sleep', until: T } }))
    const [run] = (await app.inject('/runs')).json()
    expect(run).not.toHaveProperty('input')
    expect(run).not.toHaveProperty('result')
    expect(run).not.toHaveProperty('fence')
    expect(run.waitingFor).toEqual({ kind: 'sleep', until: '2024-01-02T03:04:05.678Z' })
  })

  test('no runs are an empty list', async () => {
    const { app } = stocked(0)
    const response = await app.inject('/runs')
    expect(response.body).toBe('[]')
    expect(response.headers['x-next-cursor']).toBeUndefined()
  })

  test('pages meet every run once, also while new ones arrive', async () => {
    const { app, faces } = stocked(5)
    const first = await app.inject('/runs?limit=2')
    expect(ids(first)).toEqual(['run_5', 'run_4'])
    faces.shelf().runRows.set('run_6', aRun({ id: 'run_6', createdAt: T + 99 }))
    const second = await app.inject(`/runs?limit=2&cursor=${first.headers['x-next-cursor']}`)
    expect(ids(second)).toEqual(['run_3', 'run_2'])
    const third = await app.inject(`/runs?limit=2&cursor=${second.headers['x-next-cursor']}`)
    expect(ids(third)).toEqual(['run_1'])
    expect(third.headers['x-next-cursor']).toBeUndefined()
  })

  test.each([
    ['', 31],
    ['limit=0', 2],
    ['limit=200', 201],
    ['limit=201', 201],
  ])('%s asks for %i rows', async (query, limit) => {
    const { app, faces } = stocked(0)
    await app.inject(`/runs?${query}`)
    expect(faces.shelf().calls[0]?.[1]).toMatchObject({ limit })
  })

  test('is newest first when nothing is asked for; parameters nobody knows are ignored', async () => {
    const { app, faces } = stocked(0)
    expect((await app.inject('/runs?color=blue')).statusCode).toBe(200)
    expect(faces.shelf().calls[0]?.[1]).toEqual({ sort: 'started', dir: 'desc', limit: 31 })
  })

  test.each([
    ['app=shop', { app: 'shop' }],
    ['status=running', { status: 'running' }],
    ['runType=cron', { runType: 'cron' }],
    ['eventId=evt_1', { eventId: 'evt_1' }],
    ['replayOf=run_1', { replayOf: 'run_1' }],
    ['since=2024-01-02T03:04:05.678Z', { since: T }],
    ['q=50%25_off', { q: '50%_off', deep: false }],
    ['q=a&deep=1', { q: 'a', deep: true }],
    ['q=&deep=1', {}],
    ['deep=1', {}],
    ['sort=duration&dir=asc', { sort: 'duration', dir: 'asc' }],
  ])('%s asks for %j', async (query, expected) => {
    const { app, faces } = stocked(0)
    expect((await app.inject(`/runs?${query}`)).statusCode).toBe(200)
    const order = { sort: 'started', dir: 'desc', limit: 31 }
    expect(faces.shelf().calls[0]?.[1]).toEqual({ ...order, ...expected })
  })

  test.each(['queued', 'running', 'waiting', 'paused', 'succeeded', 'failed', 'cancelled'])(
    'knows the status %s',
    async status => {
      const { app } = stocked(0)
      expect((await app.inject(`/runs?status=${status}`)).statusCode).toBe(200)
    },
  )

  test.each([
    'status=done',
    'status=',
    'status=FAILED',
    'status=failed&status=failed',
    'limit=ten',
    'app=',
    'runType=child',
    'sort=created',
    'dir=down',
    'deep=yes',
    'since=yesterday',
    'since=2024-02-30T00:00:00Z',
    `q=${'x'.repeat(257)}`,
    `eventId=${'x'.repeat(65)}`,
    'replayOf=',
  ])('%s is refused', async query => {
    const { app } = stocked(0)
    expect(refusal(await app.inject(`/runs?${query}`))).toBe('400 invalid_request')
  })

  test('a cursor is good for its filter only', async () => {
    const { app } = stocked(3)
    const cursor = (await app.inject('/runs?limit=1&app=shop')).headers['x-next-cursor']
    expect((await app.inject(`/runs?app=shop&cursor=${cursor}`)).statusCode).toBe(200)
    expect(refusal(await app.inject(`/runs?cursor=${cursor}`))).toBe('400 invalid_cursor')
    expect(refusal(await app.inject(`/runs?app=shop&status=failed&cursor=${cursor}`))).toBe(
      '400 invalid_cursor',
    )
    expect(refusal(await app.inject(`/events?cursor=${cursor}`))).toBe('400 invalid_cursor')
    expect(refusal(await app.inject('/runs?cursor=nonsense'))).toBe('400 invalid_cursor')
  })
})

describe('cursors of GET /runs', () => {
  const runs = ['a', 'b', 'c'].map((name, i) =>
    aRun({
      id: `run_${i}`,
      workflow: name.repeat(256),
      startedAt: T,
      finishedAt: T + i,
      status: 'succeeded',
    }),
  )

  function sorted(query: string) {
    const { app, faces } = testApp()
    for (const run of runs) faces.shelf().runRows.set(run.id, run)
    const next = async () => (await app.inject(`/runs?limit=1&${query}`)).headers['x-next-cursor'] as string
    return { app, faces, next }
  }

  test.each([
    ['started', { id: 'run_2' }],
    ['workflow', { key: 'c'.repeat(256), id: 'run_2' }],
    ['status', { key: 'succeeded', id: 'run_2' }],
    ['app', { key: 'shop', id: 'run_2' }],
    ['duration', { key: 2, id: 'run_2' }],
  ])('hold the position in the order by %s', async (sort, after) => {
    const { app, faces, next } = sorted(`sort=${sort}`)
    expect((await app.inject(`/runs?sort=${sort}&cursor=${await next()}`)).statusCode).toBe(200)
    expect(faces.shelf().calls.at(-1)?.[1]).toMatchObject({ after })
  })

  test.each([
    'sort=app',
    'dir=asc',
    'since=2024-01-02T03:04:05Z',
    'q=run',
    'runType=event',
    'eventId=e',
    'replayOf=r',
  ])('are refused when %s is added', async added => {
    const { app, next } = sorted('')
    expect(refusal(await app.inject(`/runs?${added}&cursor=${await next()}`))).toBe('400 invalid_cursor')
  })

  test('are good for another page size, and for what says the same', async () => {
    const { app, next } = sorted('deep=1')
    const cursor = await next()
    for (const same of ['limit=2', 'sort=started&dir=desc', 'q=', 'deep=0']) {
      expect((await app.inject(`/runs?${same}&cursor=${cursor}`)).statusCode, same).toBe(200)
    }
  })

  test('are refused when their position is of another order', async () => {
    const { app, next } = sorted('sort=duration')
    const parts = JSON.parse(Buffer.from(await next(), 'base64url').toString())
    for (const position of [['run_1'], ['run_1', 'shop'], ['run_1', 1.5], [2, 'run_1'], ['run_1', 2, 3]]) {
      const cursor = Buffer.from(JSON.stringify({ ...parts, position })).toString('base64url')
      expect(refusal(await app.inject(`/runs?sort=duration&cursor=${cursor}`))).toBe('400 invalid_cursor')
    }
  })
})

describe('a search that does not end', () => {
  test.each([
    ['q=x', 'q'],
    ['q=x&deep=1', 'deep'],
    ['sort=duration&app=rare', 'sort'],
  ])('%s is given up after 5 s, naming %s and how to narrow it', async (query, field) => {
    const { app, faces } = testApp()
    let isAsked = false
    faces.shelf().runs = (_, signal) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason))
        isAsked = true
      })
    const answer = app.inject(`/runs?${query}`)
    await eventually(() => isAsked)
    faces.clock.advance(5000)
    const response = await answer
    expect(refusal(response)).toBe('400 invalid_request')
    expect(response.json().error.details).toEqual({ field })
    expect(messageOf(response)).toMatch(/since, status or app/)
  })

  test('leaves no timer behind when it ends', async () => {
    const { app, faces } = stocked(1)
    const before = faces.clock.timers.size
    await app.inject('/runs?q=x')
    expect(faces.clock.timers.size).toBe(before)
  })
})

describe('GET /runs/stats', () => {
  test('adds up, and is not taken for a run', async () => {
    const { app, faces } = testApp()
    Object.assign(faces.shelf().counts, { queued: 1, waiting: 2, paused: 3, succeeded: 2, failed: 1 })
    const response = await app.inject('/runs/stats?app=shop&since=2024-01-02T03:04:05.678Z')
    expect(response.json()).toEqual({ total: 9, active: 3, succeeded: 2, failed: 1, successRate: 67 })
    expect(faces.shelf().calls).toEqual([['stats', { app: 'shop', since: T }]])
  })

  test.each(['app=', 'since=today'])('%s is refused', async query => {
    const { app } = testApp()
    expect(refusal(await app.inject(`/runs/stats?${query}`))).toBe('400 invalid_request')
  })
})
