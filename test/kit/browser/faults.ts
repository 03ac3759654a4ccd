// The faults that fail every test of a page: a violation of the Content-Security-Policy, an error of the page or of its console,
// a request to another host, and a read of a list without a page size.

import { operationList } from '@perdure/protocol/operations'
import type { Page } from 'playwright-core'

const VIOLATION = 'violation of '
/** Runs in the page: the browser's own message about a violation does not always reach the console. */
const REPORT_VIOLATIONS = `addEventListener('securitypolicyviolation', event => {
  console.error('${VIOLATION}' + event.violatedDirective + ' by ' + event.blockedURI + ' ' + event.sample)
})`

/** Paths of the lists that are answered whole unless the caller sets a limit. */
const UNBOUNDED = operationList
  .filter(({ method, query }) => method === 'GET' && query?.limit && !('default' in query.limit))
  .map(({ path }) => new RegExp(`${path.replace(/\{[^}]+\}/g, '[^/]+')}$`))

/**
 * Collects the faults of a page from now on. `expected` excuses errors, by a part of their text or the path of their request:
 * never a violation, a request to a host outside `origins` (the first one served the page), or a read without a page size.
 */
export async function followFaults(
  page: Page,
  origins: readonly [string, ...string[]],
  expected: readonly string[],
): Promise<string[]> {
  const [origin] = origins
  const faults: string[] = []
  const addError = (what: string, text: string) => {
    const isExpected = !text.startsWith(VIOLATION) && expected.some(part => text.includes(part))
    if (!isExpected) faults.push(`${what}: ${text}`)
  }
  page.on('pageerror', error => addError('error of the page', error.message))
  page.on('console', message => {
    if (message.type() !== 'error') return
    const path = message.location().url.replace(origin, '')
    if (!expected.includes(path)) addError('error of the console', message.text())
  })
  page.on('request', request => {
    const url = new URL(request.url())
    if (!origins.includes(url.origin)) faults.push(`foreign request: ${request.url()}`)
    else if (request.method() === 'GET' && isUnpaged(url)) faults.push(`unpaged read: ${request.url()}`)
  })
  await page.addInitScript({ content: REPORT_VIOLATIONS })
  return faults
}

const isUnpaged = ({ pathname, searchParams }: URL) =>
  !searchParams.has('limit') && UNBOUNDED.some(path => path.test(pathname))
