// Runs one suite to its verdict: with a deadline, and closes everything that the suite has opened.

import { closeOpened } from '../test/kit/cleanup.ts'
import { seeded } from '../test/kit/seeded.ts'
import { within } from '../test/kit/until.ts'
import type { ProveOptions } from './options.ts'
import type { Verdict } from './report.ts'
import type { Finding, Suite } from './suite.ts'

const SECONDS_PER_MINUTE = 60

export async function runSuite(name: string, suite: Suite, options: ProveOptions): Promise<Verdict> {
  const { seed } = options
  const count = countOf(suite, options)
  const began = performance.now()
  const deadlineMs = suite.deadlineMs.base + suite.deadlineMs.each * count
  const order = { count, seed, random: seeded(seed) }
  const finding = await within(suite.run(order), `the verdict of ${name}`, deadlineMs).catch(failed)
  const leftovers = await closeOpened().then(() => [], failuresOf)
  return {
    suite: name,
    proves: suite.proves,
    seed,
    ms: performance.now() - began,
    finding: { ...finding, problems: [...finding.problems, ...leftovers] },
  }
}

function countOf({ unit, counts }: Suite, { count, minutes, isQuick }: ProveOptions): number {
  if (unit === 'seconds' && minutes !== undefined) return Math.ceil(minutes * SECONDS_PER_MINUTE)
  return count ?? (isQuick ? counts.quick : counts.full)
}

/** A suite that throws has proven nothing. */
function failed(error: unknown): Finding {
  return { counts: {}, problems: [error instanceof Error ? (error.stack ?? error.message) : String(error)] }
}

/** Returns the failures of the cleanup. A suite with an engine in its process fails here if the engine logged errors. */
function failuresOf(error: unknown): string[] {
  const errors = error instanceof AggregateError ? error.errors : [error]
  return errors.map(one => (one instanceof Error ? one.message : String(one)))
}
