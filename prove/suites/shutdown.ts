// `shutdown`: a separate file system loses its power, through the shutdown ioctl of ext4, while an engine writes to it. After the
// journal's replay every acknowledged event is there. Needs root, mkfs.ext4, a loop device and python3.

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { onCleanup } from '../../test/kit/cleanup.ts'
import { violations } from '../../test/kit/engine/violations.ts'
import { EngineProcess, until } from '../../test/kit/index.ts'
import { openThreeSteps } from '../load/three-steps.ts'
import { lostOf, openRuns, TokenLoad } from '../load/token-load.ts'
import type { Finding, Order, Suite } from '../suite.ts'

const IMAGE_MIB = 256
const LOAD_MS_MAX = 600
const ENDS_MS_MAX = 60_000
/** EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH: nothing more reaches the disk, not even the journal's log. */
const SHUTDOWN = `import fcntl, os, struct, sys
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587d, struct.pack("I", 2))`

export const shutdown: Suite = {
  proves: 'power loss of a real ext4, by its shutdown ioctl: no acknowledged event lost',
  unit: 'power losses',
  counts: { quick: 3, full: 100 },
  deadlineMs: { base: 120_000, each: 20_000 },
  run: shutDown,
}

async function shutDown({ count, random }: Order): Promise<Finding> {
  const disk = openDisk()
  if (typeof disk === 'string') return { counts: {}, problems: [], skipped: [disk] }
  const { name, app, runner, record } = await openThreeSteps('shutdown')
  const storeFile = join(disk.folder, 'store', 'engine.db')
  mkdirSync(join(disk.folder, 'store'))
  const engine = new EngineProcess({ env: { ENGINE_LOG_LEVEL: 'silent' }, storeFile })
  const { api } = engine
  const problems: string[] = []
  let acknowledged = 0
  for (let i = 0; i < count; i++) {
    await engine.start()
    await runner.register(api)
    const load = new TokenLoad({ api, app, name, parallel: 8 })
    await pause(random.between(50, LOAD_MS_MAX))
    disk.losePower()
    await engine.kill9()
    await load.stop()
    await disk.remount()
    await engine.start()
    problems.push(...(await lostOf(api, load.acknowledged.entries())), ...(await openRuns(api, app, ENDS_MS_MAX)))
    acknowledged += load.acknowledged.length
    await engine.sigterm()
    problems.push(...(await violations(`sqlite:${storeFile}`)).map(violation => JSON.stringify(violation)))
  }
  problems.push(...record.problems)
  if (acknowledged === 0) problems.push('no event was acknowledged')
  return {
    counts: { 'power losses': count, 'events acknowledged': acknowledged, 'steps executed': record.executedCount },
    problems,
  }
}

interface Disk {
  folder: string
  losePower(): void
  /** Mounts the disk's contents again, which replays the journal. */
  remount(): Promise<void>
}

/** Returns a file system in a file, or the reason why there is none. */
function openDisk(): Disk | string {
  if (process.getuid?.() !== 0) return 'the shutdown ioctl needs root'
  const directory = mkdtempSync(join(tmpdir(), 'perdure-ext4-'))
  const [image, folder] = [join(directory, 'image'), join(directory, 'mounted')]
  mkdirSync(folder)
  const command = (name: string, ...args: string[]) => execFileSync(name, args, { stdio: 'pipe' })
  try {
    command('truncate', '-s', `${IMAGE_MIB}M`, image)
    command('mkfs.ext4', '-q', image)
    command('mount', '-o', 'loop', image, folder)
    command('python3', '-c', 'import fcntl')
  } catch (error) {
    rmSync(directory, { recursive: true, force: true })
    return `no ext4 in a file can be mounted here: ${(error as Error).message.split('\n')[0]}`
  }
  onCleanup(() => {
    // The check of the store may not have closed its files yet.
    command('umount', '-l', folder)
    rmSync(directory, { recursive: true, force: true })
  })
  return {
    folder,
    losePower: () => command('python3', '-c', SHUTDOWN, folder),
    async remount() {
      // The kernel may still close the files of the killed process.
      await until(() => command('umount', folder), { what: 'the unmount' })
      command('mount', '-o', 'loop', image, folder)
    },
  }
}
