// Runs the checks on one runner, over HTTP or Connect, and yields a verdict for each. Called by the command.

import type { Check, Group } from './checks/check.ts'
import { CODE_CHECKS } from './checks/code.ts'
import { CONNECT_CHECKS, CONNECT_WAIT_MS, PROOF_CHECKS } from './checks/connect.ts'
import { recipientChecks, signatureChecks, VERSION_CHECKS } from './checks/http.ts'
import { MESSAGE_CHECKS } from './checks/messages.ts'
import { PARKED_CHECKS } from './checks/parked.ts'
import { REPORT_CHECKS, sendsReports } from './checks/reports.ts'
import { ConnectRunner } from './runner/connect-runner.ts'
import { HttpRunner } from './runner/http-runner.ts'
import { Fault, type RunnerUnderTest } from './runner/runner.ts'

export interface Verdict {
  group: Group
  check: string
  verdict: 'passed' | 'failed' | 'skipped'
  /** Why it failed or was skipped. */
  message?: string
}

export interface SuiteOptions {
  /** Where the runner is called, or for `ws:` where the suite listens for it. */
  url: URL
  app: string
  /** The id that the runner registers with. */
  runner?: string | undefined
  signingKey?: string | undefined
  timeoutMs: number
  /** Whether the checks of the group are carried out. */
  includes(group: Group): boolean
  signal: AbortSignal
  /** Called with the address that a Connect runner dials. */
  onListening(address: string): void
}

const STEP_CHECKS: readonly Check[] = [...CODE_CHECKS, ...PARKED_CHECKS, ...MESSAGE_CHECKS]

export function conform(options: SuiteOptions): AsyncGenerator<Verdict> {
  return options.url.protocol === 'ws:' ? overConnect(options) : overHttp(options)
}

async function* overHttp(options: SuiteOptions): AsyncGenerator<Verdict> {
  const { url, app, runner: runnerId, signingKey } = options
  const runner = new HttpRunner({ ...options, url: url.href })
  yield* verdicts(options, runner, STEP_CHECKS)
  yield* verdicts(options, runner, VERSION_CHECKS)
  yield* ofReports(options, runner)
  if (!options.includes('signatures')) return
  if (signingKey === undefined) {
    yield skipped('signatures', 'checks signatures', 'there is no --signing-key')
    return
  }
  yield* verdicts(options, runner, signatureChecks(signingKey))
  if (runnerId !== undefined) yield* verdicts(options, runner, recipientChecks(signingKey, { app, runner: runnerId }))
  else yield skipped('signatures', 'checks whom a signature is for', 'there is no --runner')
}

/** A runner elsewhere could not reach the suite. */
async function* ofReports(options: SuiteOptions, runner: HttpRunner): AsyncGenerator<Verdict> {
  if (!options.includes('reports')) return
  if (!/^(localhost|127\..*|\[::1\])$/.test(options.url.hostname))
    yield skipped('reports', 'reports steps while a pass goes on', 'the runner is not on this machine')
  else if (await sendsReports(runner)) yield* verdicts(options, runner, REPORT_CHECKS)
  else yield skipped('reports', 'reports steps while a pass goes on', 'it sends no reports, and need not')
}

async function* overConnect(options: SuiteOptions): AsyncGenerator<Verdict> {
  const { url, signingKey, onListening } = options
  const runner = new ConnectRunner({
    ...options,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 80),
  })
  onListening(await runner.listen())
  try {
    if (signingKey !== undefined) yield* verdicts(options, runner, PROOF_CHECKS)
    else if (options.includes('connect')) yield skipped('connect', 'asks for a proof', 'there is no --signing-key')
    await runner.registered(CONNECT_WAIT_MS)
    yield* verdicts(options, runner, STEP_CHECKS)
    yield* verdicts(options, runner, CONNECT_CHECKS)
  } finally {
    await runner.close()
  }
}

async function* verdicts<Runner extends RunnerUnderTest>(
  { includes }: SuiteOptions,
  runner: Runner,
  checks: readonly { group: Group; name: string; run(runner: Runner): Promise<void> }[],
): AsyncGenerator<Verdict> {
  for (const { group, name: check, run } of checks) {
    if (!includes(group)) continue
    try {
      await run(runner)
      yield { group, check, verdict: 'passed' }
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      yield { group, check, verdict: 'failed', message: error.message }
    }
  }
}

const skipped = (group: Group, check: string, message: string): Verdict => ({
  group,
  check,
  verdict: 'skipped',
  message,
})
