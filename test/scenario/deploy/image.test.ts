// The Dockerfile, without Docker: the files it copies exist, and the engine's stage, laid out in a folder as its COPY
// lines say, serves, answers its health check, and drains at SIGTERM without writing outside its volume.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { copiesOf, environmentOf, listOf, readDockerfile, type Stage } from '../../kit/deploy/dockerfile.ts'
import { Api, onCleanup, until, within } from '../../kit/index.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const stages = readDockerfile(read('Dockerfile'))
const image = stages.at(-1) as Stage

const WORKDIR = '/app/'
const NODE = '/nodejs/bin/node'

describe('the Dockerfile', () => {
  test('copies from the context files that exist and that .dockerignore lets in', () => {
    const letIn = read('.dockerignore').split('\n')
    expect(letIn).toContain('*')
    for (const { from, sources } of stages.flatMap(copiesOf)) {
      if (from !== undefined) continue
      for (const source of sources) {
        expect(existsSync(join(root, source)), source).toBe(true)
        expect(letIn, source).toContain(`!${source.split('/')[0]}`)
      }
    }
  })

  test('keeps installed, built and stored files out of the context', () => {
    const ignored = read('.dockerignore').split('\n')
    for (const name of ['node_modules', 'dist', '*.tsbuildinfo', '.perdure', '.env*'])
      expect(ignored).toContain(`**/${name}`)
  })

  test('copies only from earlier stages, and files that they have', () => {
    for (const [index, stage] of stages.entries()) {
      const earlier = stages.slice(0, index).map(({ name }) => name)
      for (const { from, sources } of copiesOf(stage)) {
        if (from === undefined) continue
        expect(earlier).toContain(from)
        const made = stages.find(({ name }) => name === from)?.instructions.map(({ rest }) => rest) ?? []
        for (const source of sources) {
          const isThere =
            existsSync(join(root, source.replace(WORKDIR, ''))) ||
            made.some(rest => rest.endsWith(`mkdir -p ${source}`))
          expect(isThere, source).toBe(true)
        }
      }
    }
  })

  test('gives npm the manifest of every workspace, because npm refuses the lock file without it', () => {
    const copied = stages.flatMap(copiesOf).flatMap(({ from, sources }) => (from ? [] : sources))
    const workspaces = ['packages', 'examples'].flatMap(folder =>
      readdirSync(join(root, folder)).map(name => `${folder}/${name}/package.json`),
    )
    for (const manifest of workspaces.filter(path => existsSync(join(root, path)))) expect(copied).toContain(manifest)
  })

  test('runs the engine as an unprivileged user, on a runtime without a shell, with a volume of its own', () => {
    const [user] = image.instructions.filter(({ word }) => word === 'USER').map(({ rest }) => rest)
    expect(user).toMatch(/^[1-9]\d*:[1-9]\d*$/)
    expect(image.from).toMatch(/^gcr\.io\/distroless\/nodejs\d+-debian\d+:nonroot$/)
    const volumes = listOf(image, 'VOLUME').map(path => path.replace(WORKDIR, ''))
    const owned = image.instructions.filter(({ rest }) => rest.includes(`--chown=${user} `))
    expect(owned.map(({ rest }) => rest.split(' ').at(-1))).toEqual(volumes)
    for (const word of ['HEALTHCHECK', 'ENTRYPOINT']) expect(listOf(image, word)[0]).toBe(NODE)
  })

  test('has the license, and labels that say what it is, with the version of the packages', () => {
    expect(copiesOf(image)).toContainEqual({ from: undefined, sources: ['LICENSE'], to: './' })
    const manifest = JSON.parse(read('packages/engine/package.json')) as Record<'version' | 'license', string>
    const labels = image.instructions.find(({ word }) => word === 'LABEL')?.rest ?? ''
    const found = Object.fromEntries(
      [...labels.matchAll(/org\.opencontainers\.image\.(\w+)=("[^"]+"|\S+)/g)].map(([, name, value]) => [name, value]),
    )
    expect(found).toMatchObject({ version: manifest.version, licenses: manifest.license })
    expect(Object.keys(found).sort()).toEqual([
      'description',
      'documentation',
      'licenses',
      'source',
      'title',
      'version',
    ])
  })

  test('starts the engine with the Node flag that the docs recommend', () => {
    const [, flags] = /`(--max-semi-space-size=\d+)`/.exec(read('docs/operating.md')) as unknown as [string, string]
    expect(listOf(image, 'ENTRYPOINT').slice(1, -1)).toEqual([flags])
  })
})

describe('the image', () => {
  test('serves, is healthy, drains at SIGTERM, and writes nothing beside its volume', async () => {
    const folder = layOut()
    const before = filesOf(folder)
    const env = { ...environmentOf(image), ENGINE_PORT: String(await freePort()) }
    const base = `http://127.0.0.1:${env.ENGINE_PORT}`
    const entry = listOf(image, 'ENTRYPOINT')
    const start = (command: string[]) => launch({ folder, env, command })

    const refused = await start([...entry, ...listOf(image, 'CMD')]).exit
    expect(refused).toMatchObject({ code: 2 })
    expect(refused.stderr).toContain('perdure keys create')
    const { stdout } = await start([...entry, 'keys', 'create', '--kind', 'secret', '--json']).exit
    const { key } = JSON.parse(stdout) as { key: string }

    const engine = start([...entry, ...listOf(image, 'CMD')])
    const healthy = () => start(listOf(image, 'HEALTHCHECK')).exit.then(({ code }) => code)
    await until(async () => (await fetch(`${base}/healthz`)).ok, { what: 'the engine listening' })
    expect(await healthy()).toBe(0)
    expect((await new Api(() => base, key).get('/runs')).status).toBe(200)
    engine.terminate()
    const ended = await engine.exit
    expect(ended).toMatchObject({ code: 0 })
    expect(ended.stderr).toContain('draining')
    expect(await healthy()).toBe(1)

    const volumes = listOf(image, 'VOLUME').map(path => path.replace(WORKDIR, ''))
    const written = filesOf(folder).filter(path => !before.includes(path))
    expect(written).toContain('.perdure/engine.db')
    expect(written.filter(path => !volumes.some(volume => path.startsWith(`${volume}/`)))).toEqual([])
  })
})

/** A folder with the files of the image's stage. Of the installed packages it has only those that ours declare. */
function layOut(): string {
  const folder = mkdtempSync(join(tmpdir(), 'perdure-image-'))
  onCleanup(() => rmSync(folder, { recursive: true, force: true }))
  for (const { from, sources, to } of copiesOf(image)) {
    for (const source of sources) {
      const path = from === undefined ? source : source.replace(WORKDIR, '')
      if (path === 'node_modules') continue
      const target = join(folder, to, to.endsWith('/') ? (path.split('/').at(-1) as string) : '')
      if (path.startsWith('/')) mkdirSync(target)
      else cpSync(join(root, path), target, { recursive: true })
    }
  }
  for (const name of readdirSync(join(folder, 'packages'))) {
    const text = readFileSync(join(folder, 'packages', name, 'package.json'), 'utf8')
    const manifest = JSON.parse(text) as { name: string; dependencies?: Record<string, string> }
    link(folder, manifest.name, join(folder, 'packages', name))
    for (const dependency of Object.keys(manifest.dependencies ?? {}).filter(one => !one.startsWith('@perdure/')))
      link(folder, dependency, join(root, 'node_modules', dependency))
  }
  return folder
}

function link(folder: string, name: string, to: string): void {
  const path = join(folder, 'node_modules', name)
  if (existsSync(path)) return
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(to, path)
}

function filesOf(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter(entry => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
}

interface Launch {
  folder: string
  env: Record<string, string>
  command: string[]
}

/** A command of the image, run by this Node with the image's environment and no other. */
function launch({ folder, env, command: [node, ...args] }: Launch) {
  expect(node).toBe(NODE)
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  onCleanup(() => void child.kill('SIGKILL'))
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text
    })
  const closed = once(child, 'close').then(([code]) => ({ code: code as number | null, ...said }))
  return { exit: within(closed, `the end of ${args.join(' ')}`), terminate: () => void child.kill('SIGTERM') }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address ? address.port : 0
}
