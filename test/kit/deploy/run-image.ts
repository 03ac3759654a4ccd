// Starts the images that the stages of the Dockerfile make: commands of an image, in the folder of its stage, with its
// environment.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isNight } from '../../part.ts'
import { onCleanup } from '../cleanup.ts'
import { until, within } from '../until.ts'
import { StageBuilder } from './build-stages.ts'
import { imageStages } from './deploy-files.ts'

/** Node in the engine's image, which has no shell. */
export const NODE = '/nodejs/bin/node'

/** The stages in a separate folder. A run of all tests compiles them; other runs take the files that the gate has compiled. */
export function buildImages(): StageBuilder {
  const home = mkdtempSync(join(tmpdir(), 'perdure-image-'))
  onCleanup(() => rmSync(home, { recursive: true, force: true }))
  return new StageBuilder({ stages: imageStages().stages, home, compiles: isNight })
}

export interface Launch {
  folder: string
  env: Record<string, string>
  command: string[]
}

/** A command of an image, run by this Node with only the image's environment. */
export function launch({ folder, env, command: [node = '', ...args] }: Launch) {
  if (node !== NODE && node !== 'node') throw new Error(`the image starts ${node}, not Node`)
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  onCleanup(() => void child.kill('SIGKILL'))
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text
    })
  const closed = once(child, 'close').then(([code]) => ({ code: code as number | null, ...said }))
  return {
    said,
    /** Resolves when the command's server answers this URL with success. Fails when the command ends first. */
    async answers(url: string): Promise<void> {
      const early = closed.then(({ code, stderr }) => Promise.reject(new Error(`it ended with ${code}: ${stderr}`)))
      early.catch(() => {})
      await Promise.race([until(async () => (await fetch(url)).ok, { what: `an answer of ${url}` }), early])
    },
    get exit() {
      return within(closed, `the end of ${args.join(' ')}`)
    },
    terminate: () => void child.kill('SIGTERM'),
  }
}
