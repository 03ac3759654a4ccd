// A reporter that prints the slowest files of a run, and as its last line how many tests passed, failed and were skipped, for
// programs to read. Set in vitest.config.ts.

import type { Reporter, TestModule, TestSuite } from 'vitest/node'

/** Fewer files need no list of the slowest. */
const FILES_MIN = 20
const SLOWEST = 10

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
    this.#line = [...slowestOf(modules), lineOf(countAll(modules, unhandled.length))].join('\n')
  }
}

/** The files that took longest, with the time until their tests were known and the time of the tests. */
function slowestOf(modules: readonly TestModule[]): string[] {
  if (modules.length < FILES_MIN) return []
  const timed = modules.map(module => {
    const { prepareDuration, environmentSetupDuration, setupDuration, collectDuration, duration } = module.diagnostic()
    const loadMs = prepareDuration + environmentSetupDuration + setupDuration + collectDuration
    return { name: `${module.project.name} ${module.relativeModuleId}`, loadMs, testMs: duration }
  })
  const slowest = timed.sort((a, b) => b.loadMs + b.testMs - a.loadMs - a.testMs).slice(0, SLOWEST)
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
  return [
    `The ${SLOWEST} slowest of ${modules.length} files, to load and to run:`,
    ...slowest.map(({ name, loadMs, testMs }) => `  ${seconds(loadMs)} + ${seconds(testMs)}  ${name}`),
  ]
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
