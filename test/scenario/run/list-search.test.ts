// Searching runs: `q` and `deep` of `GET /runs` (docs/http-api/runs.md#get-runs).

import { beforeAll, describe, expect, test } from 'vitest'
import { page, RunHistory } from '../../kit/engine/run-history.ts'
import { returned } from '../../kit/index.ts'

const history = await RunHistory.open()
const { api } = history
const made: Record<string, string> = {}
const names = Object.entries.bind(Object, made)

/** The names of the runs found by a search, in the order of creation. */
async function search(q: string, more = ''): Promise<string[]> {
  const { ids } = await page(api, `q=${encodeURIComponent(q)}&dir=asc${more}`)
  return ids.map(id => names().find(([, known]) => known === id)?.[0] ?? id)
}

beforeAll(async () => {
  await history.runner('Web_Shop', ['order', '50%-off', 'Prüfung'])
  await history.runner('mail', ['reorder'])
  made.order = (await history.run('Web_Shop', 'order', { note: 'Ask for "Zoë"' })).id
  made.off = (await history.run('Web_Shop', '50%-off', { result: { path: 'C:\\Temp', lines: 'one\ntwo' } })).id
  made.check = (await history.run('Web_Shop', 'Prüfung', { ends: 'failed', message: 'Card REFUSED' })).id
  const data = '{"note":"ask for \\u005a\\u006f\\u00eb \\ud83d\\ude00"}'
  history.clock.jump(1)
  const escaped = await api.postText('/events', `{"name":"reorder","app":"mail","data":${data}}`)
  made.reorder = (escaped.json as { runId: string }).runId
  await api.succeeded(made.reorder)
  made.long = (await history.run('mail', 'reorder', { filler: 'x'.repeat(50_000), note: 'far behind' })).id
})

describe('q', () => {
  test('matches a part of the workflow, the app or the id, in any case', async () => {
    expect(await search('ORDER')).toEqual(['order', 'reorder', 'long'])
    expect(await search('shop')).toEqual(['order', 'off', 'check'])
    expect(await search('prüf')).toEqual(['check'])
    expect(await search('PRÜF')).toEqual(['check'])
    for (const [name, id] of names()) {
      expect(await search(id)).toEqual([name])
      expect(await search(id.slice(4).toLowerCase())).toEqual([name])
    }
    expect(await search('nowhere')).toEqual([])
  })

  test('takes every character as it is', async () => {
    expect(await search('%')).toEqual(['off'])
    expect(await search('b_s')).toEqual(['order', 'off', 'check'])
    expect(await search('o_r')).toEqual([])
    for (const q of ['*', '?', '\\', '[a-z]', "'", "' OR 1=1 --", '\0', '\ufffd']) expect(await search(q)).toEqual([])
  })

  test('does not look at input, result or error', async () => {
    for (const q of ['zoë', 'temp', 'refused', 'far behind']) expect(await search(q)).toEqual([])
  })

  test('an empty q is ignored', async () => {
    expect(await search('')).toEqual(Object.keys(made))
    expect(await search('', '&deep=1')).toEqual(Object.keys(made))
  })

  test('a q of more than 256 characters is 400', async () => {
    expect(await search('😀'.repeat(256))).toEqual([])
    const answer = await api.get(`/runs?q=${'x'.repeat(257)}`)
    expect(answer).toMatchObject({ status: 400, code: 'invalid_request' })
  })
})

describe('deep', () => {
  test('widens q to the input, also to one that is long', async () => {
    expect(await search('ask for', '&deep=1')).toEqual(['order', 'reorder'])
    expect(await search('FAR behind', '&deep=1')).toEqual(['long'])
  })

  test('widens q to the result', async () => {
    expect(await search('c:\\temp', '&deep=1')).toEqual(['off'])
    expect(await search('one\ntwo', '&deep=1')).toEqual(['off'])
  })

  test('widens q to the error', async () => {
    expect(await search('card refused', '&deep=1')).toEqual(['check'])
  })

  test('finds text as a reader sees it, however it is escaped', async () => {
    expect(await search('zoë', '&deep=1')).toEqual(['order', 'reorder'])
    expect(await search('for "zoë"', '&deep=1')).toEqual(['order'])
    expect(await search('😀', '&deep=1')).toEqual(['reorder'])
  })

  test('finds id, workflow and app as well', async () => {
    expect(await search('prüfung', '&deep=1')).toEqual(['check'])
    expect(await search(made.off as string, '&deep=1')).toEqual(['off'])
  })

  test('is off as 0, and ignored without q', async () => {
    expect(await search('zoë', '&deep=0')).toEqual([])
    expect((await page(api, 'deep=1')).ids).toHaveLength(5)
  })

  test('is restricted by the other filters', async () => {
    expect(await search('zoë', '&deep=1&app=mail')).toEqual(['reorder'])
    expect(await search('zoë', '&deep=1&status=failed')).toEqual([])
    const { createdAt } = await api.run(made.off as string)
    expect(await search('zoë', `&deep=1&since=${createdAt}`)).toEqual(['reorder'])
    expect(await search('zoë', '&deep=1&sort=workflow')).toEqual(['order', 'reorder'])
  })

  test('widens q to the name and id of the event, to attributes, and to the ids of source and parent', async () => {
    const registration = { triggers: [{ event: 'order/placed' }] }
    await history.engine.runner({ app: 'post', workflows: { parcel: { handler: () => returned(null), registration } } })
    const sent = await history.send({ name: 'order/placed', attributes: { customer: 'c-4711' } })
    made.placed = sent.runId
    await api.succeeded(sent.runId)
    made.fork = (await history.replay(sent.runId)).id
    expect(await search('ORDER/pl', '&deep=1')).toEqual(['placed', 'fork'])
    expect(await search('c-4711', '&deep=1')).toEqual(['placed', 'fork'])
    expect(await search(sent.eventId, '&deep=1')).toEqual(['placed'])
    expect(await search(sent.runId, '&deep=1')).toEqual(['placed', 'fork'])
    for (const q of ['order/pl', 'c-4711', sent.eventId]) expect(await search(q), q).toEqual([])
  })
})
