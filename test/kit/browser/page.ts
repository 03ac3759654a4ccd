// Pages of the console in a real browser: one browser per test file, one context (storage, worker) per test or per
// page that tests reuse. Every page fails its test on a fault of `faults.ts`.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { onCleanup } from '../cleanup.ts'
import { until } from '../until.ts'
import { CHROMIUM } from './chromium.ts'
import { followFaults } from './faults.ts'

const WAIT_MS_MAX = 10_000
const [WIDTH, HEIGHT] = [1280, 800]
/** A name of this machine that is not a secure address, like an engine on another machine over plain HTTP. */
const PLAIN_HOST = 'console.test'

let launched: Promise<Browser> | undefined

export interface PageOptions {
  colorScheme?: 'light' | 'dark'
  width?: number
  /** The time zone of the browser. Default: the time zone of this machine. */
  timezone?: string
  /** Whether animations are allowed. Default: no. */
  moves?: boolean
  /** A context to share with another page: its tabs have one worker. */
  context?: BrowserContext
  /** Errors that the test expects, as parts of their text; with a slash at the start, as the path of a request that failed. */
  expected?: readonly string[]
  /** Further hosts that the page may call, such as another engine than the one that served it. */
  alsoCalls?: readonly string[]
  /** Registers the check of the page, which throws its faults. By default it runs at the end of the test. */
  atEnd?(check: () => void): void
}

/** A page of the browser, closed when the test ends. */
export async function openPage(origin: string, options: PageOptions = {}): Promise<Page> {
  const { expected = [], alsoCalls = [], atEnd = onTestFinished } = options
  const context = options.context ?? (await contextOfTest(options))
  const page = await context.newPage()
  const faults = await followFaults(page, [origin, ...alsoCalls], expected)
  atEnd(() => throwFaults(faults))
  return page
}

function throwFaults(faults: readonly string[]): void {
  if (faults.length > 0) throw new Error(faults.join('\n'))
}

interface ReusedPage {
  page: Page
  faults: string[]
  /** The errors that the current test expects. */
  expected: string[]
  isInUse: boolean
}

/** The pages of `reusePage` in this test file, by origin. */
const reused = new Map<string, ReusedPage>()

/**
 * A page that one test of the file uses after the other, because a new page and its scripts take more time than many tests. It
 * starts with an empty storage and without routes. For tests that neither set the clock, nor add scripts or tabs, nor end the
 * engine.
 */
export async function reusePage(
  origin: string,
  options: Pick<PageOptions, 'expected' | 'width' | 'colorScheme'> = {},
): Promise<Page> {
  const known = reused.get(origin) ?? (await pageToReuse(origin))
  if (known.isInUse) return openPage(origin, options)
  reused.set(origin, known)
  known.isInUse = true
  const { page, faults } = known
  const { expected = [], width = WIDTH, colorScheme = 'light' } = options
  known.expected.push(...expected)
  await page.setViewportSize({ width, height: HEIGHT })
  await page.emulateMedia({ colorScheme })
  onTestFinished(async () => {
    throwFaults(faults)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    // Any other page of the origin. The storage of an origin can be emptied only there.
    await page.goto(`${origin}/whoami`)
    await page.evaluate('sessionStorage.clear(); localStorage.clear()')
    // Reads that were under way when the test ended have failed.
    faults.splice(0)
    known.expected.splice(0)
    known.isInUse = false
  })
  return page
}

/** A page that the browser closes, at the end of the file. */
async function pageToReuse(origin: string): Promise<ReusedPage> {
  const page = await (await newContext({})).newPage()
  const expected: string[] = []
  return { page, faults: await followFaults(page, [origin], expected), expected, isInUse: false }
}

/** Signs in with this key at the form that the page shows. */
export async function enterKey(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key)
  await page.keyboard.press('Enter')
}

/** Unlocks the actions with this secret key. */
export async function unlock(page: Page, key: string): Promise<void> {
  await page.getByRole('button', { name: 'Unlock' }).click()
  await page.getByLabel('Secret key').fill(key)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: /^Lock · / }).waitFor()
}

/** Signs in at a page, by default the list of runs, with this secret key, and unlocks the actions. */
export async function signInUnlocked(
  page: Page,
  { url, key, path = 'runs' }: { url: string; key: string; path?: string },
): Promise<void> {
  await page.goto(`${url}/console/n/default/${path}`)
  await enterKey(page, key)
  await unlock(page, key)
}

/** Goes to a URL of the console, without a load if the page is already in the console, as its links do. */
export async function goTo(page: Page, url: string): Promise<void> {
  const isThere = page.url().startsWith(new URL('/console', url).href)
  if (!isThere) await page.goto(url)
  else
    await page.evaluate(
      `history.pushState(null, '', ${JSON.stringify(url)}); dispatchEvent(new PopStateEvent('popstate'))`,
    )
}

/** Resolves when the page has read all that it shows. */
export async function loaded(page: Page): Promise<void> {
  await page.locator('h1').waitFor()
  await until(async () => (await page.locator('[aria-busy]').count()) === 0, { what: 'the end of loading' })
}

/** The address of an engine on this machine in a form that browsers do not consider secure. */
export const plainUrl = (engineUrl: string): string => engineUrl.replace(/127\.0\.0\.1|localhost/, PLAIN_HOST)

/** A context that is closed when the test ends. */
async function contextOfTest(options: PageOptions): Promise<BrowserContext> {
  const context = await newContext(options)
  onTestFinished(async () => {
    // A test may end while it holds a request back: the handler then fails with the page, which is not a fault.
    for (const page of context.pages()) await page.unrouteAll({ behavior: 'ignoreErrors' })
    await context.close()
  })
  return context
}

async function newContext(options: PageOptions): Promise<BrowserContext> {
  const { colorScheme = 'light', width = WIDTH, moves = false, timezone } = options
  launched ??= launch()
  const context = await (await launched).newContext({
    colorScheme,
    viewport: { width, height: HEIGHT },
    reducedMotion: moves ? 'no-preference' : 'reduce',
    ...(timezone !== undefined && { timezoneId: timezone }),
  })
  context.setDefaultTimeout(WAIT_MS_MAX)
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  return context
}

async function launch(): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', `--host-resolver-rules=MAP ${PLAIN_HOST} 127.0.0.1`],
  })
  onCleanup(() => {
    // The files of a worker share this module: the next file launches its own.
    launched = undefined
    reused.clear()
    return browser.close()
  })
  return browser
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface AxeResult {
  violations: { id: string; help: string; nodes: { html: string }[] }[]
}

/** The violations of accessibility that axe finds on the page, one line each: for all rules, or for these. */
export async function axeViolations(page: Page, rules?: readonly string[]): Promise<string[]> {
  // The inspector evaluates it, so the page's policy does not apply.
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(AXE)
  // Details of the rules that pass would take most of the time.
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) }
  const { violations } = await page.evaluate<AxeResult>(`axe.run(${JSON.stringify(options)})`)
  return violations.flatMap(({ id, help, nodes }) => nodes.map(({ html }) => `${id}: ${help}: ${html.slice(0, 200)}`))
}
