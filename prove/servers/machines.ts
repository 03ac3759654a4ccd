// Separate machines for runners: network namespaces on one bridge. A machine that vanishes leaves the bridge: its frames go
// nowhere, and no side sees an error. Needs root and the command `ip`.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { onCleanup } from '../../test/kit/cleanup.ts'

const RUNNER = fileURLToPath(new URL('../load/machine-runner.ts', import.meta.url))
/** A private network that probably nothing else uses. */
const NETWORK = `10.213.${process.pid % 256}`

export interface Machine {
  readonly name: string
  readonly address: string
  /** Starts the runner of this machine. */
  run(env: Record<string, string>): ChildProcess
  vanish(): void
  comeBack(): void
}

/** Returns the reason if this machine cannot create others; otherwise undefined. */
export function whyNoMachines(): string | undefined {
  try {
    ip('netns', 'add', 'perdure-probe')
    ip('netns', 'del', 'perdure-probe')
    return undefined
  } catch {
    return 'network namespaces need root and the command ip'
  }
}

/** Opens machines. Returns them and the address at which they reach this one. */
export function openMachines(names: readonly string[]): { address: string; machines: Machine[] } {
  const bridge = `pd${process.pid}`
  ip('link', 'add', bridge, 'type', 'bridge')
  onCleanup(() => quietly('link', 'del', bridge))
  ip('addr', 'add', `${NETWORK}.1/24`, 'dev', bridge)
  ip('link', 'set', bridge, 'up')
  const machines = names.map((name, i) => openMachine({ bridge, name, no: i + 1 }))
  return { address: `${NETWORK}.1`, machines }
}

function openMachine({ bridge, name, no }: { bridge: string; name: string; no: number }): Machine {
  const space = `${bridge}-${no}`
  const [outer, inner] = [`${bridge}o${no}`, `${bridge}i${no}`]
  const address = `${NETWORK}.${no + 1}`
  ip('netns', 'add', space)
  onCleanup(() => quietly('netns', 'del', space))
  ip('link', 'add', outer, 'type', 'veth', 'peer', 'name', inner, 'netns', space)
  ip('link', 'set', outer, 'master', bridge)
  ip('link', 'set', outer, 'up')
  ip('-n', space, 'addr', 'add', `${address}/24`, 'dev', inner)
  ip('-n', space, 'link', 'set', inner, 'up')
  ip('-n', space, 'link', 'set', 'lo', 'up')
  return {
    name,
    address,
    run(env) {
      const node = [process.execPath, '--conditions=perdure-source', '--import', 'tsx', RUNNER]
      const child = spawn('ip', ['netns', 'exec', space, ...node], {
        env: { ...process.env, ...env, RUNNER_NAME: name, RUNNER_HOST: address },
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      onCleanup(() => void child.kill('SIGKILL'))
      return child
    },
    vanish: () => ip('link', 'set', outer, 'nomaster', 'down'),
    comeBack: () => ip('link', 'set', outer, 'master', bridge, 'up'),
  }
}

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: 'pipe' })
}

function quietly(...args: string[]): void {
  try {
    ip(...args)
  } catch {
    // It is already gone.
  }
}
