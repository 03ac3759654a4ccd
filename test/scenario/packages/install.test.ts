// The packages as users get them: packed, served by a registry, installed with npm into empty projects, and used by ES modules,
// CommonJS, TypeScript and a bundler for browsers.

import { cpSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { beforeAll, describe, expect, test } from 'vitest'
import { onCleanup } from '../../kit/cleanup.ts'
import { projectFile } from '../../kit/deploy/deploy-files.ts'
import { environmentOf, readDockerfile, type Stage } from '../../kit/deploy/dockerfile.ts'
import { Project } from '../../kit/packages/project.ts'
import { openRegistry, type Registry } from '../../kit/packages/registry.ts'
import { until, within } from '../../kit/until.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const SUBPATHS = [
  '',
  '/node',
  '/hono',
  '/express',
  '/fastify',
  '/next',
  '/bun',
  '/elysia',
  '/connect',
  '/ai',
  '/testing',
  '/client',
  '/react',
]

let registry: Registry
let project: Project

beforeAll(async () => {
  registry = await openRegistry()
  project = new Project(registry)
  // An older copy than the engine's own, which a user may have.
  const dependencies = { '@opentelemetry/api': '1.3.0', react: '*' }
  project.write('package.json', JSON.stringify({ name: 'project', private: true, type: 'module', dependencies }))
  await project.run('.', 'npm', 'install', 'perdure')
}, 180_000)

test('one install has the command, the SDK, the client and the engine', async () => {
  expect((await project.run('.', 'npx', '--no', '--', 'perdure', '--version')).trim()).toBe(
    registry.packed.get('perdure')?.manifest.version,
  )
  const { dependencies } = JSON.parse(readFileSync(join(project.home, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  expect(Object.keys(dependencies)).toEqual(['@opentelemetry/api', 'perdure', 'react'])
})

test('ES modules and CommonJS get the same names from every subpath', async () => {
  const names = JSON.stringify(SUBPATHS.map(subpath => `perdure${subpath}`))
  project.write(
    'all.mjs',
    `const all = {}; for (const name of ${names}) all[name] = Object.keys(await import(name)).filter(key => key !== 'default' && key !== 'module.exports').sort(); console.log(JSON.stringify(all))`,
  )
  project.write(
    'all.cjs',
    `const all = {}; for (const name of ${names}) all[name] = Object.keys(require(name)).sort(); console.log(JSON.stringify(all))`,
  )
  const namesOf = async (file: string) =>
    JSON.parse(await project.run('.', 'node', '--no-warnings', file)) as Record<string, string[]>
  const [imported, required] = [await namesOf('all.mjs'), await namesOf('all.cjs')]
  expect(required).toEqual(imported)
  for (const subpath of SUBPATHS) expect(imported?.[`perdure${subpath}`]?.length, subpath).toBeGreaterThan(0)
})

test('perdure and perdure/client have the same createClient', async () => {
  project.write(
    'same.mjs',
    `import { createRequire } from 'node:module'
    import * as perdure from 'perdure'
    import * as client from 'perdure/client'
    const require = createRequire(import.meta.url)
    const same = [[perdure, client], [require('perdure'), require('perdure/client')]]
    console.log(same.map(([a, b]) => a.createClient === b.createClient && a.ApiError === b.ApiError).join())`,
  )
  expect((await project.run('.', 'node', 'same.mjs')).trim()).toBe('true,true')
})

const CONSUMER = `
import { createWorkflow, defineEvent, type WorkflowArgs } from 'perdure'
import { connect } from 'perdure/connect'
import { createClient } from 'perdure/client'
import { serve } from 'perdure/node'
import { testEngine } from 'perdure/testing'
export const double = createWorkflow({ name: 'double' }, async ({ event, step }: WorkflowArgs<{ n: number }>) => {
  const twice: number = await step.run('double', () => event.data.n * 2)
  return { twice }
})
export const uses = [connect, createClient, serve, testEngine, defineEvent]
export async function statusOf(id: string): Promise<string> {
  const client = createClient()
  const run = await client.getRun({ id })
  // @ts-expect-error: a run has no such field
  run.nothing
  for await (const item of client.pages.listRuns({ status: 'failed' })) if (item.id === id) return item.workflow
  const handle = await client.start(double, { n: 2 }, { app: 'shop' })
  // @ts-expect-error: the input has another type
  await client.start(double, { n: '2' })
  return (await handle.result()).twice > 3 ? run.status : handle.status()
}
`

describe('strict TypeScript', () => {
  /** The oldest and the newest supported version, each with the settings of its time. */
  const settings = [
    ['typescript-5.4', 'Node16', 'node16', ['esm.mts', 'commonjs.cts']],
    ['typescript-5.4', 'ESNext', 'bundler', ['esm.mts']],
    ['typescript', 'NodeNext', 'nodenext', ['esm.mts', 'commonjs.cts']],
  ] as const

  test.each(settings)('%s, module %s, moduleResolution %s', async (compiler, module, moduleResolution, files) => {
    const folder = `${compiler}-${moduleResolution}`
    for (const file of files) project.write(`${folder}/${file}`, CONSUMER)
    const options = {
      ...{ target: 'ES2022', lib: ['ES2022', 'ESNext.Disposable', 'DOM'], types: [], strict: true, noEmit: true },
      ...{ module, moduleResolution, exactOptionalPropertyTypes: true, skipLibCheck: true },
    }
    project.write(`${folder}/tsconfig.json`, JSON.stringify({ compilerOptions: options, files }))
    const problems = await project
      .run(folder, 'node', join(root, `node_modules/${compiler}/lib/tsc.js`), '-p', '.')
      .then(
        () => '',
        (error: { stdout: string }) => error.stdout,
      )
    expect(problems).toBe('')
  })
})

test('event definitions and the clients bundle for browsers, without anything of Node', async () => {
  project.write(
    'browser.js',
    `import { createClient, defineEvent } from 'perdure'
    import { createClient as createApiClient } from 'perdure/client'
    globalThis.used = [createClient, defineEvent, createApiClient]`,
  )
  const { outputFiles, warnings } = await build({
    absWorkingDir: project.home,
    entryPoints: ['browser.js'],
    bundle: true,
    platform: 'browser',
    write: false,
    metafile: true,
  })
  expect(warnings).toEqual([])
  const [bundle] = outputFiles
  expect(bundle?.text).not.toMatch(/\brequire\(|from ["']node:/)
})

describe('every package', () => {
  const FILES = ['LICENSE', 'README.md', 'package.json']

  test('has what a registry shows, a license, and one version', () => {
    expect([...registry.packed.keys()].sort()).toEqual([
      ...['@perdure/cli', '@perdure/client', '@perdure/engine', '@perdure/protocol', '@perdure/sdk'],
      ...['create-perdure', 'perdure'],
    ])
    for (const [name, { manifest, files }] of registry.packed) {
      expect(files, name).toEqual(expect.arrayContaining(FILES))
      expect(manifest, name).toMatchObject({
        version: registry.packed.get('perdure')?.manifest.version,
        license: 'Apache-2.0',
        description: expect.stringMatching(/\.$/),
        homepage: expect.stringMatching(/^https:/),
        repository: { type: 'git', directory: expect.stringMatching(/^packages\//) },
        bugs: { url: expect.stringMatching(/^https:/) },
        keywords: expect.arrayContaining(['perdure']),
        engines: { node: '>=20.19.0' },
        publishConfig: { access: 'public', provenance: true },
      })
    }
  })

  test('ships no test, and only source maps whose sources it ships', () => {
    for (const [name, { files }] of registry.packed) {
      expect(
        files.filter(file => /\.(test|testkit)\./.test(file) && !file.startsWith('template/')),
        name,
      ).toEqual([])
      const folder = join(root, 'node_modules', name)
      for (const file of files) {
        if (!/\.(c|m)?(js|ts)$/.test(file)) continue
        const map = /\/\/# sourceMappingURL=(\S+)\s*$/.exec(readFileSync(join(folder, file), 'utf8'))?.[1]
        if (map === undefined) continue
        const mapFile = join(dirname(file), map)
        expect(files, `${name}/${file}`).toContain(mapFile)
        const { sources } = JSON.parse(readFileSync(join(folder, mapFile), 'utf8')) as { sources: string[] }
        for (const source of sources) expect(files, `${name}/${mapFile}`).toContain(join(dirname(mapFile), source))
      }
    }
  })
})

/** A user's tracing SDK, as short as possible. */
const PRELOAD = `require('@opentelemetry/api').trace.setGlobalTracerProvider({ getTracer: () => ({}) })`

test('a project keeps its only copy of the OpenTelemetry API, and the engine finds the SDK behind it', async () => {
  const lock = JSON.parse(readFileSync(join(project.home, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string }>
  }
  const copies = Object.entries(lock.packages).filter(([path]) => path.endsWith('node_modules/@opentelemetry/api'))
  expect(copies.map(([path, { version }]) => [path, version])).toEqual([['node_modules/@opentelemetry/api', '1.3.0']])
  project.write('preload.cjs', PRELOAD)
  const doctor = project.type('.', 'NODE_OPTIONS=--require=./preload.cjs node_modules/.bin/perdure doctor --json')
  await within(doctor.ended, 'the end of doctor')
  expect(doctor.printed()).toMatch(/"check":"tracing","verdict":"ok"/)
})

test('the recipe for the image sends the spans of the engine, the last ones when it stops', async () => {
  const stages = readDockerfile(projectFile('deploy/tracing/Dockerfile'))
  const [install] = (stages[0] as Stage).instructions.filter(({ word }) => word === 'RUN')
  project.write('tracing/package.json', '{}')
  await project.run('tracing', 'bash', '-c', install?.rest as string)
  cpSync(join(root, 'deploy/tracing/tracing.cjs'), join(project.home, 'tracing/tracing.cjs'))
  const collector = await openCollector()
  const options = environmentOf(stages.at(-1) as Stage).NODE_OPTIONS?.replace('/tracing/', './tracing/')
  const engine = project.type(
    '.',
    `ENGINE_PORT=0 NODE_OPTIONS=${options} OTEL_EXPORTER_OTLP_ENDPOINT=${collector.url} exec node_modules/.bin/perdure serve`,
  )
  const url = await until(() => /listens on (http:\S+)/.exec(engine.printed())?.[1], { what: 'the engine' })
  const sent = await fetch(`${url}/events`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'order.placed' }),
  })
  expect(sent.status).toBe(202)
  engine.interrupt()
  expect(await within(engine.ended, 'the end of the engine'), engine.printed()).toBe(0)
  const text = collector.received()
  expect(text).toContain('"name":"perdure.event"')
  expect(text).toContain('{"key":"service.name","value":{"stringValue":"perdure"}}')
})

/** A collector of OTLP over HTTP. `received` is the text of all posts of spans. */
async function openCollector(): Promise<{ url: string; received(): string }> {
  let text = ''
  const server = createServer(async (request, response) => {
    for await (const chunk of request) text += chunk
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  }).listen(0, '127.0.0.1')
  onCleanup(() => server.close())
  await new Promise(resolve => server.once('listening', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received: () => text }
}
