// Starts the bench's child processes (TypeScript through tsx) and ensures that none outlives the bench.

import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const alive = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))

/** Kills the child when the bench ends, in whatever way. */
export function keep<C extends ChildProcess>(child: C): C {
  alive.add(child)
  child.on('exit', () => alive.delete(child))
  return child
}

/** Starts the module at `url` as a child process with a message channel. */
export function forkBench(url: URL): ChildProcess {
  return keep(fork(fileURLToPath(url), [], { execArgv: ['--import', 'tsx'] }))
}

/** The first result of `pick` for a message of the child. Rejects when the child ends before that. */
export function nextMessage<M, R>(child: ChildProcess, pick: (message: M) => R | undefined): Promise<R> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: unknown) => {
      const picked = pick(message as M)
      if (picked === undefined) return
      stopListening()
      resolve(picked)
    }
    const onExit = (code: number | null) => {
      stopListening()
      reject(new Error(`a bench process ended early (exit code ${code})`))
    }
    const stopListening = () => child.off('message', onMessage).off('exit', onExit)
    child.on('message', onMessage).on('exit', onExit)
  })
}

/** Ends the child and waits for it. */
export function endChild(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise(resolve => {
    child.on('exit', () => resolve())
    child.kill(signal)
  })
}
