// Tabs of a real Chromium for the bench of the console, each with its own storage and worker. Errors of a page and requests to
// other hosts are problems.

import { type Browser, type BrowserContext, type CDPSession, chromium, type Page } from 'playwright-core'
import { CHROMIUM } from '../../../test/kit/browser/chromium.ts'

const WAIT_MS_MAX = 120_000
const POLL_MS = 50
/**
 * Work of the script engine, the document and the layout, similar to the console's: the time that a machine needs for it shows
 * its speed.
 */
const CALIBRATION = `(() => {
  const from = performance.now()
  const table = document.createElement('table')
  document.body.append(table)
  for (let round = 0; round < 5; round++) {
    const rows = Array.from({ length: 400 }, (_, i) => ({ id: 'run_' + i * 7919 % 400, ms: i * 31 }))
    rows.sort((a, b) => (a.id < b.id ? -1 : 1))
    table.replaceChildren()
    for (const row of JSON.parse(JSON.stringify(rows))) {
      const line = table.insertRow()
      for (let k = 0; k < 8; k++) line.insertCell().textContent = row.id + ' ' + k
    }
    table.getBoundingClientRect()
  }
  table.remove()
  return performance.now() - from
})()`
/** CPU time of the calibration on the idle machine of docs/benchmarks.md. */
const CALIBRATION_MS = 200
const CALIBRATIONS = 5

export interface Tab {
  page: Page
  cdp: CDPSession
  context: BrowserContext
}

export interface TabOptions {
  /** Runs in the page before its own scripts. */
  before?: string
  throttle?: number
  width?: number
}

export class BenchBrowser {
  readonly problems: string[] = []
  readonly #browser: Browser

  private constructor(browser: Browser) {
    this.#browser = browser
  }

  static async launch(): Promise<BenchBrowser> {
    return new BenchBrowser(await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] }))
  }

  get version(): string {
    return this.#browser.version()
  }

  async open(origin: string, { before, throttle = 1, width = 1280 }: TabOptions = {}): Promise<Tab> {
    const context = await this.#browser.newContext({ viewport: { width, height: 800 } })
    context.setDefaultTimeout(WAIT_MS_MAX)
    const page = await context.newPage()
    page.on('pageerror', error => this.problems.push(`error of the page: ${error.message}`))
    page.on('console', message => {
      if (message.type() === 'error') this.problems.push(`error of the console: ${message.text()}`)
    })
    page.on('request', request => {
      if (!request.url().startsWith(origin)) this.problems.push(`foreign request: ${request.url()}`)
    })
    if (before !== undefined) await page.addInitScript({ content: before })
    const cdp = await context.newCDPSession(page)
    if (throttle > 1) await cdp.send('Emulation.setCPUThrottlingRate', { rate: throttle })
    return { page, cdp, context }
  }

  /** Returns how many times slower this machine is now than the one of docs/benchmarks.md. */
  async slowness(): Promise<number> {
    const context = await this.#browser.newContext()
    const page = await context.newPage()
    const times: number[] = []
    for (let i = 0; i <= CALIBRATIONS; i++) times.push(await page.evaluate<number>(CALIBRATION))
    await context.close()
    // The first one includes compilation.
    const sorted = times.slice(1).sort((a, b) => a - b)
    return (sorted[CALIBRATIONS >> 1] as number) / CALIBRATION_MS
  }

  close(): Promise<void> {
    return this.#browser.close()
  }
}

/** Returns the bytes of the page's heap after a collection. */
export async function heapBytes({ cdp }: Tab): Promise<number> {
  await cdp.send('HeapProfiler.collectGarbage')
  return (await cdp.send('Runtime.getHeapUsage')).usedSize
}

/** Waits until the expression is true in the page. The page's policy forbids the waits of Playwright. */
export async function untilTrue(page: Page, expression: string): Promise<void> {
  const giveUpAt = performance.now() + WAIT_MS_MAX
  while (!(await page.evaluate<boolean>(expression))) {
    if (performance.now() > giveUpAt) throw new Error(`the page never came to ${expression}`)
    await new Promise(resolve => setTimeout(resolve, POLL_MS))
  }
}

export const consoleUrl = (origin: string, path = '') => `${origin}/console/n/default/${path}`
