// docs/deploy-a-worker.md, typed as written: a project with the tarballs, and its Dockerfile, executed instruction by instruction
// in an empty folder. The resulting worker runs against an engine, leaves at SIGTERM and writes no file.

import { cpSync, mkdirSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { copiesOf, environmentOf, listOf, readDockerfile, type Stage } from '../../kit/deploy/dockerfile.ts'
import { launch } from '../../kit/deploy/run-image.ts'
import { blocksOf } from '../../kit/docs/blocks.ts'
import { startEngine, until } from '../../kit/index.ts'
import { Project } from '../../kit/packages/project.ts'
import { openRegistry } from '../../kit/packages/registry.ts'

const blocks = blocksOf('docs/deploy-a-worker.md')
const blockWith = (text: string) => blocks.find(({ code }) => code.includes(text))?.code as string

test('the worker of the page, built as its Dockerfile says, runs its workflow and leaves at SIGTERM', {
  timeout: 300_000,
}, async () => {
  const registry = await openRegistry()
  const project = new Project(registry)
  project.write('src/worker.js', blockWith('// src/worker.js'))
  mkdirSync(join(project.home, 'vendor'))
  for (const { tarball } of registry.packed.values()) cpSync(tarball, join(project.home, 'vendor', basename(tarball)))
  const [create, install] = blockWith('npm install ./vendor').split('\n') as [string, string]
  for (const line of [create, install]) await project.run('.', 'sh', '-ec', line)

  const image = readDockerfile(blockWith('FROM node')).at(-1) as Stage
  const stage = 'image'
  for (const instruction of image.instructions) {
    for (const { sources, to } of copiesOf({ ...image, instructions: [instruction] }))
      for (const path of sources)
        cpSync(join(project.home, path), join(project.home, stage, to.endsWith('/') ? join(to, path) : to), {
          recursive: true,
        })
    if (instruction.word === 'RUN') await project.run(stage, 'sh', '-ec', instruction.rest)
  }
  const files = () => readdirSync(join(project.home, stage), { recursive: true }).sort()
  const before = files()

  const engine = await startEngine()
  const worker = launch({
    folder: join(project.home, stage),
    env: { ...environmentOf(image), ENGINE_URL: engine.url },
    command: listOf(image, 'CMD'),
  })
  await until(async () => (await engine.api.get('/runners')).text.includes('"shop"'), { what: 'the worker registered' })
  const { runId } = await engine.api.send({ name: 'user.signed-up', data: { name: 'Ada' } })
  expect((await engine.api.succeeded(runId as string)).result).toBe('Hello, Ada!')
  worker.terminate()
  expect(await worker.exit).toMatchObject({ code: 0 })
  expect(files()).toEqual(before)
})
