// The keys of the console, one by one: each works on every page that has it, is named by a tooltip, and can be switched off.

import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { openBundle } from '../../kit/browser/bundles.ts'
import { enterKey, reusePage, unlock } from '../../kit/browser/page.ts'
import { child, flow, onCleanup, openDestination, openEngine, PlainRunner, run, unique, wait } from '../../kit/index.ts'
import { answer } from '../../kit/servers/raw-server.ts'
import { API_KEYS, SECRET_KEY } from '../../kit/webhook/webhooks.ts'

const engine = await openEngine({
  env: { ENGINE_API_KEYS: API_KEYS, ENGINE_WEBHOOK_ALLOW_PRIVATE: '1', ENGINE_WEBHOOK_SCHEDULE: '1ms' },
})
const api = engine.api.as(SECRET_KEY)
const app = unique('shop')
const refuse = () => {
  throw Object.assign(new Error('card 4711 was refused'), { retriable: false })
}
const runner = await new PlainRunner({
  app,
  workflows: {
    refused: { handler: flow([run('charge', refuse)]), registration: { retry: { maxAttempts: 1 } } },
    patient: flow([wait('approval', 'approved')]),
    slow: { handler: flow([run('work')]), registration: { throttle: { limit: 1, period: '1h' } } },
    parent: flow([child('delegate', 'patient')]),
    buffered: { handler: flow([run('pack')]), registration: { batch: { maxSize: 9, timeout: '1h' } } },
  },
}).listen()
onCleanup(() => runner.close())
await runner.register(api)
const hook = await openDestination(request => answer(request, 200, 'thanks'))
await api.post('/webhook-endpoints', { url: hook.url, eventKinds: ['run.failed'] })
await api.post('/webhook-receivers', { eventName: 'pushed', name: 'pushes' })
await api.put('/schedules/weekly', { cron: '0 9 * * 1', event: { name: 'report' } })
const { runId: failedId } = await api.send({ name: 'refused' })
await api.failed(failedId)
await api.send({ name: 'patient' })
await api.send({ name: 'patient' })
await api.send({ name: 'slow' })
await api.send({ name: 'slow' })
await api.send({ name: 'buffered' })

async function signedIn(path: string): Promise<Page> {
  const page = await reusePage(engine.url, { expected: ['401', '403'] })
  await page.goto(`${engine.url}/console/n/default/${path}`)
  await enterKey(page, SECRET_KEY)
  await page.getByRole('button', { name: 'Unlock' }).waitFor()
  await page.locator('h1').waitFor()
  return page
}

/** The list of keys needs a secret key. */
async function unlockKeys(page: Page): Promise<void> {
  await page.getByText('Use Unlock at the top of the page.').waitFor()
  await unlock(page, SECRET_KEY)
}

const SECTIONS = {
  o: 'Overview',
  r: 'Runs',
  w: 'Workflows',
  e: 'Events',
  s: 'Schedules',
  l: 'Limits',
  n: 'Runners',
  b: 'Webhooks',
  x: 'Errors',
  a: 'Audit',
  k: 'Keys',
  i: 'Engine',
}

test('g and a letter open each section, and its link says so', async () => {
  const page = await signedIn('runs')
  for (const [key, name] of Object.entries(SECTIONS)) {
    await page.keyboard.press('g')
    await page.keyboard.press(key)
    await page.locator('h1').getByText(name, { exact: true }).waitFor()
    await page.locator(`nav [title="${name} (g ${key})"][aria-current=page]`).waitFor()
  }
})

test('search, help, theme, pause, and the three kinds of copy', async () => {
  const page = await signedIn('runs?since=24h')
  const dialog = page.getByRole('dialog')
  for (const [key, title] of [
    ['Control+k', 'Search'],
    ['/', 'Search'],
    ['?', 'Keyboard'],
  ] as const) {
    await page.keyboard.press(key)
    await dialog.getByRole('heading', { name: title }).waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  }
  await page.keyboard.press('t')
  await page.getByText(/^Theme: /).waitFor()
  await page.keyboard.press('l')
  await page.locator('[data-look=paused]').waitFor()
  await page.keyboard.press('l')
  const clipboard = () => page.evaluate<string>('navigator.clipboard.readText()')
  await page.keyboard.press('y')
  await expect.poll(clipboard).toBe(page.url())
  await page.keyboard.press('Y')
  await expect.poll(clipboard).toMatch(/since=20\d\d-/)
  expect(page.url()).toMatch(/since=20\d\d-/)
  await page.goto(`${engine.url}/console/n/default/runs/${failedId}`)
  await page.locator('h1').getByText('refused').waitFor()
  await page.keyboard.press('c')
  await expect.poll(clipboard).toBe(failedId)
})

/** The lists, with the words of the row to find, and the page that Enter opens. */
const LISTS: readonly [path: string, row: RegExp, opens: RegExp | undefined][] = [
  ['runs', /refused/, /\/runs\/run_/],
  ['workflows', /refused/, /\/workflows\/.*\/refused/],
  ['events', /refused/, /\/events\/evt_/],
  ['schedules', /weekly/, undefined],
  ['limits', /slow/, /\/workflows\/.*\/slow/],
  ['runners', new RegExp(app), /\/apps\//],
  ['errors', /card 4711/, /\/errors\//],
  ['webhooks/deliveries', /run\.failed/, /\/deliveries\/dlv_/],
  ['webhooks/endpoints', /127\.0\.0\.1/, /\/endpoints\/whe_/],
  ['webhooks/receivers', /pushes/, /\/receivers\/whr_/],
  ['audit', /endpoint\.create/, undefined],
  ['keys', /ops/, undefined],
]
/** Lists without filters. */
const NO_FILTER = ['webhooks/endpoints', 'webhooks/receivers', 'keys']

// One page shows all lists, because a page and a session for each would take longer than the keys.
test('every list: j k Space . f Enter Esc', async () => {
  const page = await signedIn('')
  for (const [path, ...expected] of LISTS) {
    await page.goto(`${engine.url}/console/n/default/${path}`)
    if (path === 'keys') await unlockKeys(page)
    await tryKeys(page, path, ...expected).catch(cause => {
      throw new Error(`the list ${path}`, { cause })
    })
  }
})

async function tryKeys(page: Page, path: string, name: RegExp, opens: RegExp | undefined): Promise<void> {
  const row = page.getByRole('row', { name }).first()
  await row.waitFor()
  const focused = 'document.activeElement.dataset.key'
  const wanted = await row.getAttribute('data-key')
  const at = () => page.evaluate<string | undefined>(focused)
  await page.keyboard.press('k')
  await expect.poll(at).toBeDefined()
  for (let i = 0, before = await at(); i < 30 && before !== wanted; i++, before = await at()) {
    await page.keyboard.press('j')
    await expect.poll(at).not.toBe(before)
  }
  expect(await page.evaluate(focused)).toBe(wanted)
  await page.keyboard.press('Space')
  const look = page.getByRole('complementary', { name: /^Preview of/ })
  await look.waitFor()
  await page.keyboard.press('Escape')
  await look.waitFor({ state: 'detached' })
  await page.keyboard.press('.')
  await page.getByRole('menuitem').first().waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('menuitem').first().waitFor({ state: 'detached' })
  if (!NO_FILTER.includes(path)) {
    await page.keyboard.press('f')
    const inInput = 'document.activeElement.matches("input, select")'
    await expect.poll(() => page.evaluate(inInput)).toBe(true)
    expect(await page.evaluate('document.activeElement.title')).toContain('(f)')
    await page.keyboard.press('Escape')
    await expect.poll(() => page.evaluate(inInput)).toBe(false)
  }
  if (opens === undefined) return
  await row.focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(opens)
}

test('a page with several tables: the keys begin in its first one, and go on to the next', async () => {
  const page = await signedIn('runs')
  const rows = page.locator('tr[data-key]')
  // The last table comes last.
  await page.route('**/buffers*', async route => {
    await page.getByRole('row', { name: /slow/ }).waitFor()
    await route.continue()
  })
  await page.goto(`${engine.url}/console/n/default/limits`)
  await page.getByRole('row', { name: /buffered/ }).waitFor()
  const keys = await rows.evaluateAll(all => all.map(row => row.getAttribute('data-key') as string))
  expect(keys.length).toBeGreaterThan(1)
  const focused = () => page.evaluate<string | undefined>('document.activeElement.dataset.key')
  for (const key of keys) {
    await page.keyboard.press('j')
    await expect.poll(focused).toBe(key)
  }
  for (const key of keys.toReversed().slice(1)) {
    await page.keyboard.press('k')
    await expect.poll(focused).toBe(key)
  }
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/workflows\/.*\/slow/)
})

test('x and X select; Esc closes, then clears, then goes up to the list as it was', async () => {
  const page = await signedIn('runs?app=x')
  await page.getByRole('button', { name: 'Remove app:x' }).click()
  await page.goto(`${engine.url}/console/n/default/runs?status=failed,waiting,queued`)
  await page.getByRole('row', { name: /refused/ }).waitFor()
  for (const key of ['j', 'x', 'j', 'j', 'X']) {
    await page.keyboard.press(key)
    await page.waitForTimeout(50)
  }
  await page.getByText('3 runs selected').waitFor()
  await page.keyboard.press('Space')
  const look = page.getByRole('complementary', { name: 'Preview of the run' })
  await look.waitFor()
  await page.keyboard.press('Escape')
  await look.waitFor({ state: 'detached' })
  await page.getByText('3 runs selected').waitFor()
  await page.keyboard.press('Escape')
  await page.getByText('3 runs selected').waitFor({ state: 'detached' })
  const focused = () => page.evaluate<string | undefined>('document.activeElement.dataset.key')
  const opened = await focused()
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/runs\/run_/)
  await page.getByRole('treegrid').waitFor()
  await page.keyboard.press('.')
  await page.getByRole('menuitem', { name: /^Cancel/ }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('menuitem').first().waitFor({ state: 'detached' })
  await page.keyboard.press('ArrowDown')
  const inspector = page.getByRole('button', { name: 'Close the inspector' })
  await inspector.waitFor()
  await page.keyboard.press('Escape')
  await inspector.waitFor({ state: 'detached' })
  expect(page.url()).toContain('/runs/run_')
  await page.keyboard.press('Escape')
  await page.waitForURL(/\/runs\?status=failed,waiting,queued$/)
  expect(opened).toMatch(/^run_/)
  await expect.poll(focused).toBe(opened)
})

test('X alone selects its row: a range begins in the same list, at a row that is selected', async () => {
  const page = await signedIn('runs?status=failed,waiting,queued')
  await page.getByRole('row', { name: /refused/ }).waitFor()
  const press = async (...keys: string[]) => {
    for (const key of keys) {
      await page.keyboard.press(key)
      await page.waitForTimeout(50)
    }
  }
  const one = page.getByText('1 run selected')
  await press('j', 'x', 'Escape', 'j', 'j', 'X')
  await one.waitFor()
  await page.getByRole('group', { name: 'Status' }).getByRole('button', { name: 'Waiting', exact: true }).click()
  await page.getByRole('row', { name: /refused/ }).waitFor({ state: 'detached' })
  await press('j', 'X')
  await one.waitFor()
})

const step = (name: string, fromMs: number, status: 'succeeded' | 'failed' = 'succeeded') =>
  ({ name, fromMs, toMs: fromMs + 100, status }) as const

test('the timeline: n N z 0 + - h f', async () => {
  const page = await signedIn('bundle')
  await openBundle(page, engine.url, [
    step('load', 0),
    step('first', 200, 'failed'),
    step('store', 400),
    step('second', 600, 'failed'),
    ...Array.from({ length: 6 }, (_, part) => step(`part-${part}`, 800, part === 4 ? 'failed' : 'succeeded')),
  ])
  const selected = (name: RegExp) => page.getByRole('row', { name, selected: true }).waitFor()
  await page.keyboard.press('n')
  await selected(/^first/)
  await page.keyboard.press('n')
  await selected(/^second/)
  for (const name of [/^part.* 1 failed/, /^part.* 1 failed/, /^part-4/]) {
    await page.keyboard.press('n')
    await selected(name)
  }
  for (const name of [/^part.* 1 failed/, /^second/, /^first/]) {
    await page.keyboard.press('N')
    await selected(name)
  }
  const zoomOut = page.getByRole('button', { name: 'Zoom out' })
  for (const [zoom, back] of [
    ['z', '0'],
    ['+', '-'],
  ] as const) {
    await page.keyboard.press(zoom)
    await zoomOut.waitFor()
    await page.keyboard.press(back)
    await zoomOut.waitFor({ state: 'detached' })
  }
  await page.keyboard.press('h')
  await page.getByRole('row', { name: /^load/ }).waitFor({ state: 'detached' })
  await page.keyboard.press('f')
  await page.keyboard.type('part')
  await page.getByRole('row', { name: /^first/ }).waitFor({ state: 'detached' })
})

/** Every key that has its own control; the other keys move, and only the list of keys names them. */
const IN_TOOLTIPS = [
  ...['⌘K', '/', 'f', 'l', 'x', 'X', 'Esc', 'c', '.'],
  ...['1', '2', '3', '4', '5', '6', '7', 'n', 'N', 'z', '0', '+', '-', 'h', '[', ']', 'r', 'e', '{', '}', 'p'],
]
const IN_MENUS = ['y', 'Y', 't', '?']

test('every key that has a control is in its tooltip', async () => {
  const page = await signedIn('runs')
  const { runId } = await api.send({ name: 'parent' })
  await api.reaches(runId, 'waiting')
  const titles = new Set<string>()
  const collect = async () => {
    for (const title of await page.locator('[title]').evaluateAll(all => all.map(each => each.getAttribute('title'))))
      titles.add(title ?? '')
  }
  await page.getByRole('row', { name: /refused/ }).waitFor()
  await collect()
  await page
    .getByRole('link', { name: failedId.slice(-8) })
    .first()
    .click()
  await page.getByRole('treegrid').waitFor()
  await page.keyboard.press('n')
  await page.keyboard.press('+')
  await page.getByRole('button', { name: 'Zoom out' }).waitFor()
  await collect()
  const children = await api.runs(`?parentRunId=${runId}`)
  await page.goto(`${engine.url}/console/n/default/runs/${children[0]?.id}`)
  await page.getByTitle('Parent (p)').waitFor()
  await collect()
  // Keys are in parentheses: `Parent (p)`, `Select (x), up to here (X)`.
  const inParentheses = [...titles].flatMap(title => [...title.matchAll(/\(([^()]+)\)/g)].map(([, keys]) => keys ?? ''))
  const named = inParentheses.flatMap(keys => keys.split(/[\s,;]+/))
  const isNamed = (key: string) => named.includes(key)
  expect(IN_TOOLTIPS.filter(key => !isNamed(key))).toEqual([])
  await page.getByRole('button', { name: 'Session and help' }).click()
  await page.locator('[role=menu] kbd').first().waitFor()
  const shown = await page.locator('[role=menu] kbd').allTextContents()
  expect(IN_MENUS.filter(key => !shown.includes(key))).toEqual([])
})

/**
 * The tree of a screen reader without its numbers, and without the counts beside the sections: times change, and counts come
 * late.
 */
const spoken = async (page: Page) =>
  (await page.locator('body').ariaSnapshot())
    .replaceAll(/\d+(?: (?:s|min|seconds?|minutes?) ago)?/g, 'n')
    .replaceAll(/(link "(?:Limits|Runners|Webhooks|Errors))[^"]*"/g, '$1"')

const SINGLE = [...'/?joxXfyYcltrepnNzh0+-[]{}1234567', '.', 'Space', 'g', 'w']

test.each([
  ['a run', () => `runs/${failedId}`],
  ['the list of runs', () => 'runs?status=failed'],
])('single keys can be switched off on %s, and on again', async (_, path) => {
  const page = await signedIn(path())
  await page.getByRole('treegrid').or(page.locator('tbody tr[data-key]').first()).waitFor()
  await page.getByRole('button', { name: 'Live', exact: true }).waitFor()
  await page.keyboard.press('?')
  const letters = page.getByLabel('Single-letter shortcuts')
  await letters.uncheck()
  await page.keyboard.press('Escape')
  await letters.waitFor({ state: 'detached' })
  await page.evaluate('navigator.clipboard.writeText("untouched")')
  const before = await spoken(page)
  const theme = () => page.evaluate('document.documentElement.dataset.theme')
  const [url, themeBefore] = [page.url(), await theme()]
  for (const key of SINGLE) {
    await page.keyboard.press(key)
    expect(await spoken(page), key).toBe(before)
  }
  // Other keys count, and come after the effects of the letters.
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog', { name: 'Search' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await spoken(page)).toBe(before)
  expect(page.url()).toBe(url)
  expect(await theme()).toBe(themeBefore)
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe('untouched')
  await page.getByRole('button', { name: 'Session and help' }).click()
  await page.getByRole('menuitem', { name: /^Keyboard/ }).click()
  await letters.check()
  await page.keyboard.press('Escape')
  await letters.waitFor({ state: 'detached' })
  await page.keyboard.press('y')
  await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(url)
})
