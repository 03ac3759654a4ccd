// A reporter that prints the last line of a run: how many tests passed, failed and were skipped, for programs to
// read. Set in vitest.config.ts.

import type { Reporter, TestModule, TestSuite } from 'vitest/node'

interface Counts {
  passed: number
  failed: number
  skipped: number
}

export class ClosingLine implements Reporter {
  #line: string | undefined

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    // Printed when the process exits, after all other reporters and teardowns.
    if (this.#line === undefined) process.once('exit', () => process.stdout.write(`${this.#line}\n`))
    this.#line = lineOf(countAll(modules, unhandled.length))
  }
}

/**
 * Counts the tests. Errors that belong to no test (a file that does not load, a hook, a stray error) count as
 * failures.
 */
function countAll(modules: readonly TestModule[], strayErrors: number): Counts {
  const counts: Counts = { passed: 0, failed: strayErrors, skipped: 0 }
  for (const module of modules) {
    for (const test of module.children.allTests()) {
      const { state } = test.result()
      // A test that did not reach its end has not passed.
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
