// Plays the cases with one runner, over HTTP or Connect, and yields a verdict for each. Called by the command.

import { type Case, casesOf } from './cases.ts'
import { ConnectRunner } from './connect-runner.ts'
import type { Group } from './groups.ts'
import { HttpRunner } from './http-runner.ts'
import { outcomeOf, play } from './play.ts'
import { Fault, type RunnerUnderTest } from './runner.ts'

export interface Verdict {
  group: Group
  check: string
  verdict: 'passed' | 'failed' | 'skipped'
  /** Why it failed or was skipped. */
  message?: string
}

export interface SuiteOptions {
  /** The URL at which the runner is called, or, for `ws:`, at which the suite listens for it. */
  url: URL
  app: string
  /** The id with which the runner registers. */
  runner?: string | undefined
  signingKey?: string | undefined
  timeoutMs: number
  /** Whether the cases of the group are played. */
  includes(group: Group): boolean
  signal: AbortSignal
  /** Called with the address that a Connect runner dials. */
  onListening(address: string): void
}

type Need = NonNullable<Case['needs']>

/** Cases with the same need are skipped together, under this name. */
const SKIPPED_AS: Record<Need, string> = {
  'signing-key': 'checks signatures',
  runner: 'checks the recipient of a signature',
  reports: 'reports steps while a pass continues',
  proof: 'asks for a proof',
}

export function conform(options: SuiteOptions): AsyncGenerator<Verdict> {
  return options.url.protocol === 'ws:' ? overConnect(options) : overHttp(options)
}

async function* overHttp(options: SuiteOptions): AsyncGenerator<Verdict> {
  const runner = new HttpRunner({ ...options, url: options.url.href })
  const cases = casesOf('http').filter(({ group }) => options.includes(group))
  const missing = new Map<Need, string | undefined>()
  for (const one of cases) {
    // Without a key no signature is checked, and one verdict says so.
    const need = one.needs === 'runner' && options.signingKey === undefined ? 'signing-key' : one.needs
    const isFirst = need !== undefined && !missing.has(need)
    if (isFirst) missing.set(need, await reasonToSkip(need, options, runner))
    const message = need && missing.get(need)
    if (message === undefined) yield await verdictOf(one, runner)
    else if (isFirst) yield { group: one.group, check: SKIPPED_AS[need], verdict: 'skipped', message }
  }
}

async function* overConnect(options: SuiteOptions): AsyncGenerator<Verdict> {
  const { url, signingKey, onListening } = options
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const runner = new ConnectRunner({ ...options, host, port: Number(url.port || 80) })
  const cases = casesOf('connect').filter(({ group }) => options.includes(group))
  onListening(await runner.listen())
  try {
    // The proof belongs to the first dial.
    for (const one of cases.filter(({ needs }) => needs === 'proof'))
      if (signingKey !== undefined) yield await verdictOf(one, runner, runner)
      else yield { group: one.group, check: SKIPPED_AS.proof, verdict: 'skipped', message: NO_KEY }
    await runner.registered()
    for (const one of cases.filter(({ needs }) => needs !== 'proof')) yield await verdictOf(one, runner, runner)
  } finally {
    await runner.close()
  }
}

const NO_KEY = 'there is no --signing-key'

async function reasonToSkip(need: Need, options: SuiteOptions, runner: HttpRunner): Promise<string | undefined> {
  if (need === 'runner') return options.runner === undefined ? 'there is no --runner' : undefined
  if (need !== 'reports') return options.signingKey === undefined ? NO_KEY : undefined
  // A runner elsewhere could not reach the suite.
  if (!/^(localhost|127\..*|\[::1\])$/.test(options.url.hostname)) return 'the runner is not on this machine'
  const { reports } = await outcomeOf(
    { workflow: 'conform-sequence' },
    { data: { n: 4 }, receipts: ['stored'] },
    runner,
  )
  return reports.length === 0 ? 'it sends no reports, which are optional' : undefined
}

async function verdictOf(one: Case, runner: RunnerUnderTest, connect?: ConnectRunner): Promise<Verdict> {
  const { group, name: check } = one
  try {
    await play(one, runner, connect)
    return { group, check, verdict: 'passed' }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return { group, check, verdict: 'failed', message: error.message }
  }
}
