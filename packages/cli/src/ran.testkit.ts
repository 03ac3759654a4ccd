// Runs a command line within the test's process.

import { onTestFinished, vi } from 'vitest'
import { main } from './main.ts'

// Each command listens for interrupts and for the end of its output until the process ends.
process.setMaxListeners(0)
process.stdout.setMaxListeners(0)

/** The output of a command line, and its exit code. With `columns`, stdout is a terminal of that width. */
export async function ran(args: string[], { columns }: { columns?: number } = {}) {
  if (columns !== undefined) {
    vi.stubEnv('NO_COLOR', '1')
    const { isTTY, columns: before } = process.stdout
    Object.assign(process.stdout, { isTTY: true, columns })
    onTestFinished(() => void Object.assign(process.stdout, { isTTY, columns: before }))
  }
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    const spy = vi.spyOn(process[name], 'write').mockImplementation((text, ...rest) => {
      said[name] += text
      const written = rest.at(-1)
      if (typeof written === 'function') (written as () => void)()
      return true
    })
    onTestFinished(() => spy.mockRestore())
  }
  const code = await main(args)
  // It belongs to the command line, not to the tests.
  process.exitCode = undefined
  return { code, ...said }
}
