// A reporter that prints the slowest files and folders of a run, the failures, and as its last line how many tests passed, failed
// and were skipped, for programs to read. The failures also go to the file that PERDURE_FAILURES names. vitest.config.ts sets it.

import { appendFileSync } from 'node:fs'
import type { Reporter, TestModule, TestSuite } from 'vitest/node'

/** With fewer files, a list of the slowest is not needed. */
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
    const failures = failuresOf(modules, unhandled)
    const file = process.env.PERDURE_FAILURES
    if (file !== undefined && failures.length > 0) appendFileSync(file, `${failures.join('\n')}\n`)
    // Printed when the process exits, after all other reporters and teardowns.
    if (this.#line === undefined) process.once('exit', () => process.stdout.write(`${this.#line}\n`))
    this.#line = [...slowestOf(modules), ...failures, lineOf(countAll(modules, unhandled.length))].join('\n')
  }
}

interface Timed {
  name: string
  loadMs: number
  testMs: number
}

/** The files and folders that took longest, with the time to collect their tests and the time of the tests. */
function slowestOf(modules: readonly TestModule[]): string[] {
  if (modules.length < FILES_MIN) return []
  const files = modules.map(module => {
    const { prepareDuration, environmentSetupDuration, setupDuration, collectDuration, duration } = module.diagnostic()
    const loadMs = prepareDuration + environmentSetupDuration + setupDuration + collectDuration
    return { name: `${module.project.name} ${module.relativeModuleId}`, loadMs, testMs: duration }
  })
  return [
    `The ${SLOWEST} slowest of ${files.length} files, to load and to run:`,
    ...linesOf(files),
    `The ${SLOWEST} slowest folders:`,
    ...linesOf(foldersOf(files)),
  ]
}

/** The first three folders of the paths, with the sums of their files. */
function foldersOf(files: readonly Timed[]): Timed[] {
  const folders = new Map<string, Timed>()
  for (const { name, loadMs, testMs } of files) {
    const folder = name.split('/').slice(0, -1).slice(0, 3).join('/')
    const sum = folders.get(folder) ?? { name: folder, loadMs: 0, testMs: 0 }
    folders.set(folder, { name: folder, loadMs: sum.loadMs + loadMs, testMs: sum.testMs + testMs })
  }
  return [...folders.values()]
}

function linesOf(timed: readonly Timed[]): string[] {
  const slowest = timed.toSorted((a, b) => b.loadMs + b.testMs - a.loadMs - a.testMs).slice(0, SLOWEST)
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
  return slowest.map(({ name, loadMs, testMs }) => `  ${seconds(loadMs)} + ${seconds(testMs)}  ${name}`)
}

/** A line for each failure: where it happened, and the first line of its error. */
function failuresOf(modules: readonly TestModule[], unhandled: readonly unknown[]): string[] {
  const failures: string[] = []
  const add = (where: string, error: unknown) => {
    const { message = String(error) } = (error ?? {}) as { message?: string }
    failures.push(`FAILED ${where}: ${message.split('\n', 1)[0]}`)
  }
  for (const error of unhandled) add('outside of tests', error)
  for (const module of modules) {
    const file = `${module.project.name} ${module.relativeModuleId}`
    for (const error of module.errors()) add(file, error)
    for (const suite of module.children.allSuites()) {
      for (const error of suite.errors()) add(`${file} > ${suite.fullName}`, error)
    }
    for (const test of module.children.allTests()) {
      const { state, errors } = test.result()
      if (state === 'failed' || state === 'pending') add(`${file} > ${test.fullName}`, errors?.[0] ?? 'it did not end')
    }
  }
  return failures
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
