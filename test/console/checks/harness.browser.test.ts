// The checks that run in every browser test of the console. Each must fail on a page that is broken on purpose.

import { expect, test } from 'vitest'
import { serveBrokenPage } from '../../kit/browser/broken-page.ts'
import { checkLeaks } from '../../kit/browser/leaks.ts'
import { openPage, reusePage } from '../../kit/browser/page.ts'
import { openEngine, until } from '../../kit/index.ts'

const engine = await openEngine()
/** The policy that the engine sends with the console. */
const policy = (await fetch(`${engine.url}/console/`)).headers.get('content-security-policy') ?? ''

interface Options {
  expected?: readonly string[]
  csp?: string
}

/** Opens a page with this script, as every test does, and returns its check. */
async function opened(script: string, { expected = [], csp = policy }: Options = {}) {
  const { origin, url } = await serveBrokenPage(
    `(async () => { ${script} })().finally(() => { document.title = 'done' })`,
    {
      'content-security-policy': csp,
    },
  )
  const checks: (() => void)[] = []
  const page = await openPage(origin, { expected, atEnd: check => checks.push(check) })
  await page.goto(url)
  // Playwright's own wait for an expression evaluates it in the page, and the page's policy forbids that.
  await until(async () => (await page.title()) === 'done')
  // The page's next report comes after its faults.
  await page.evaluate('new Promise(resolve => setTimeout(resolve))')
  return { page, check: () => checks[0]?.() }
}

test.each([
  ['an inline style', `document.body.setAttribute('style', 'color: red')`, /violation of style-src/],
  ['HTML from text', `try { document.body.innerHTML = '<b>x</b>' } catch {}`, /violation of require-trusted-types-for/],
  [
    'an inline script',
    `try { document.body.setAttribute('onclick', '1') } catch {}`,
    /violation of require-trusted-types-for/,
  ],
  [
    'a script of another host',
    `const s = document.createElement('script'); try { s.src = 'http://127.0.0.1:1/' } catch {}`,
    /violation/,
  ],
  ['a call of another host', `await fetch('http://127.0.0.1:1/').catch(() => {})`, /violation of connect-src/],
  ['an error of the page', `setTimeout(() => { throw new Error('broken') })`, /^error of the page: broken$/],
  ['a promise that nobody awaits', `void Promise.reject(new Error('broken'))`, /^error of the page: broken$/],
  ['an error of the console', `console.error('broken')`, /^error of the console: broken$/],
  ['a request that fails', `await fetch('/missing')`, /^error of the console: .*404/],
  [
    'a list that is read whole',
    `await fetch('/runs/run_1/steps?fields=summary')`,
    /^unpaged read: .*\/runs\/run_1\/steps/,
  ],
])('%s fails the test', async (_, script, message) => {
  const { check } = await opened(script)
  expect(check).toThrow(message)
})

test('a request to another host fails the test, also where the policy lets it pass', async () => {
  const { check } = await opened(`await fetch('http://localhost:1/').catch(() => {})`, {
    csp: '',
    expected: ['Failed'],
  })
  expect(check).toThrow(/^foreign request: http:\/\/localhost:1\//)
})

test('a page that does nothing of it passes; errors that a test expects are excused, and nothing else', async () => {
  const { check } = await opened(
    `await fetch('/runs/run_1/steps?limit=200'); await fetch('/runs'); console.log('fine')`,
  )
  expect(check).not.toThrow()
  const excused = await opened(`console.error('broken'); await fetch('/missing?a=1')`, {
    expected: ['broken', '/missing?a=1'],
  })
  expect(excused.check).not.toThrow()
  const script = `await fetch('/runs/run_1/steps'); document.body.setAttribute('style', 'color: red')`
  const { check: strict } = await opened(script, { expected: ['http', 'violation', 'style'] })
  expect(strict).toThrow(/unpaged read/)
  expect(strict).toThrow(/violation of style-src/)
})

test.each([
  ['a listener', `addEventListener('resize', () => visits)`, /listeners/],
  ['nodes', `for (let i = 0; i < 9; i++) kept.push(document.createElement('i'))`, /nodes/],
])('%s that each visit leaves behind fails the test', async (_, leak, message) => {
  const { page } = await opened(`const kept = []; let visits = 0; window.visit = () => { visits++; ${leak} }`)
  const visit = () => page.evaluate<void>('window.visit()')
  await expect(checkLeaks(page, visit, { deadlineMs: 1000 })).rejects.toThrow(message)
})

test('visits that leave nothing behind pass', async () => {
  const { page } = await opened(`window.visit = () => {
    const button = document.createElement('button')
    button.addEventListener('click', () => {})
    document.body.append(button)
    button.remove()
  }`)
  await checkLeaks(page, () => page.evaluate<void>('window.visit()'))
})

/** Values that a test can leave on a page. */
const LEFT = '[sessionStorage.left, localStorage.left, innerWidth, matchMedia("(prefers-color-scheme: dark)").matches]'

test.each(['first', 'second'])('a page that tests reuse begins as a new one does: %s test', async () => {
  const page = await reusePage(engine.url)
  await page.goto(`${engine.url}/console/n/default/runs`)
  await page.getByText('No runs yet').waitFor()
  expect(await page.evaluate(LEFT)).toEqual([undefined, undefined, 1280, false])
  await page.evaluate('sessionStorage.left = localStorage.left = 1')
  await page.setViewportSize({ width: 380, height: 800 })
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.route('**/runs?*', route => route.abort())
})

test.fails('a fault of a page that tests reuse fails its test', async () => {
  const page = await reusePage(engine.url)
  await page.goto(`${engine.url}/console/n/default/runs`)
  await page.getByText('No runs yet').waitFor()
  await page.evaluate(`console.error('broken')`)
})
