// A reporter whose one line is the last that a run prints: how many tests passed, failed and were skipped, for programs
// to read. Set in vitest.config.ts.

import type { Reporter, TestModule, TestSuite } from 'vitest/node'

interface Counts {
  passed: number
  failed: number
  skipped: number
}

export class ClosingLine implements Reporter {
  #line: string | undefined

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    // Said when the process ends: other reporters, and teardowns, have spoken by then.
    if (this.#line === undefined) process.once('exit', () => process.stdout.write(`${this.#line}\n`))
    this.#line = lineOf(countAll(modules, unhandled.length))
  }
}

/** What cannot be told as a failed test (a file that does not load, a hook, a stray error) is a failure too. */
function countAll(modules: readonly TestModule[], strayErrors: number): Counts {
  const counts: Counts = { passed: 0, failed: strayErrors, skipped: 0 }
  for (const module of modules) {
    for (const test of module.children.allTests()) {
      const { state } = test.result()
      // One that never came to its end has not passed.
      counts[state === 'pending' ? 'failed' : state]++
    }
    const suites: (TestModule | TestSuite)[] = [module, ...module.children.allSuites()]
    counts.failed += suites.filter(suite => suite.errors().length > 0).length
  }
  return counts
}

function lineOf({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}
