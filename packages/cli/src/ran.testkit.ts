// Runs a command line within the test's process.

import { onTestFinished, vi } from 'vitest'
import { main } from './main.ts'

// Each command listens for interrupts and for the end of its output until the process ends.
process.setMaxListeners(0)
process.stdout.setMaxListeners(0)

/** The output of a command line, and its exit code. */
export async function ran(args: string[]) {
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
  return { code: await main(args), ...said }
}
