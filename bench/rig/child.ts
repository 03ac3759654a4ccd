// Starts the bench's child processes (TypeScript through tsx) and ensures that none outlives the bench.

import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const alive = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))

/** Starts the module at `url` as a child process with a message channel, which is killed when the bench ends, no matter how. */
export function forkBench(url: URL): ChildProcess {
  const child = fork(fileURLToPath(url), [], { execArgv: ['--import', 'tsx'] })
  alive.add(child)
  child.on('exit', () => alive.delete(child))
  return child
}

/** Returns the next message of this kind. Rejects if the child ends first. */
export function messageOf<M extends { kind: string }, K extends M['kind']>(child: ChildProcess, kind: K) {
  return new Promise<Extract<M, { kind: K }>>((resolve, reject) => {
    const stopListening = () => child.off('message', onMessage).off('exit', onExit)
    const onMessage = (message: unknown) => {
      if ((message as M).kind !== kind) return
      stopListening()
      resolve(message as Extract<M, { kind: K }>)
    }
    const onExit = (code: number | null) => {
      stopListening()
      reject(new Error(`a bench process ended early (exit code ${code})`))
    }
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
