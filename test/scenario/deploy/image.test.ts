// The Dockerfile, without Docker: the files it copies exist, and the engine's stage, executed in a folder, serves,
// answers its health check, and drains at SIGTERM without writing outside its volume.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { WORKDIR } from '../../kit/deploy/build-stages.ts'
import { copiesOf, environmentOf, listOf, readDockerfile, type Stage } from '../../kit/deploy/dockerfile.ts'
import { buildImages, launch, NODE } from '../../kit/deploy/run-image.ts'
import { Api } from '../../kit/index.ts'
import { freePort } from '../../kit/servers/free-port.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const stages = readDockerfile(read('Dockerfile'))
const image = stages.at(-1) as Stage

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
            existsSync(join(root, source.replace(`${WORKDIR}/`, ''))) ||
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
    const volumes = listOf(image, 'VOLUME').map(path => path.replace(`${WORKDIR}/`, ''))
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
})

describe('the image', () => {
  test('serves, is healthy, drains at SIGTERM, and writes nothing beside its volume', async () => {
    const folder = join(await buildImages().build('engine'), WORKDIR)
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
    await engine.answers(`${base}/healthz`)
    expect(await healthy()).toBe(0)
    expect((await new Api(() => base, key).get('/runs')).status).toBe(200)
    engine.terminate()
    const ended = await engine.exit
    expect(ended).toMatchObject({ code: 0 })
    expect(ended.stderr).toContain('draining')
    expect(await healthy()).toBe(1)

    const volumes = listOf(image, 'VOLUME').map(path => path.replace(`${WORKDIR}/`, ''))
    const written = filesOf(folder).filter(path => !before.includes(path))
    expect(written).toContain('.perdure/engine.db')
    expect(written.filter(path => !volumes.some(volume => path.startsWith(`${volume}/`)))).toEqual([])
  })
})

function filesOf(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter(entry => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
}
