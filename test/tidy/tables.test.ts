// Checks that the tables of the documentation agree with the code they describe.

import { readdirSync, readFileSync } from 'node:fs'
import { ENGINE_SECRET_FILES, ENGINE_SETTINGS } from '@perdure/protocol'
import { OpcodeSchema, RunErrorCodeSchema, WorkflowRegistrationSchema } from '@perdure/protocol/schema'
import { expect, test } from 'vitest'
import { ENGINE_VERSION } from '../../packages/engine/src/base/version.ts'
import { ERROR_CODES } from '../../packages/engine/src/domain/model/errors.ts'
import { statusOf } from '../../packages/engine/src/http/response/problem.ts'
import { API_ERROR_MEANING } from '../../packages/protocol/src/api/error-meanings.ts'
import { operationList } from '../../packages/protocol/src/operations/index.ts'
import { flowControlMembers } from '../../packages/protocol/src/wire/flow-control-schema.ts'
import { httpApiPages } from '../../scripts/http-api-pages.ts'

const textOf = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const page = (name: string) => textOf(`docs/${name}.md`)

/** The cells of every table row whose first cell is code. */
function rows(text: string): string[][] {
  return text
    .split('\n')
    .filter(line => line.startsWith('| `'))
    .map(line =>
      line
        .split('|')
        .slice(1, -1)
        .map(cell => cell.trim()),
    )
}

const codesOf = (cell: string | undefined) => [...(cell ?? '').matchAll(/`([^`]+)`/g)].map(match => match[1])

test('docs/errors.md lists every error code with its status and meaning, and what to do', () => {
  const [bodies] = page('errors').split('## Errors of runs')
  const listed = rows(bodies as string).map(([code, status, meaning]) => [codesOf(code)[0], Number(status), meaning])
  const codes = Object.keys(ERROR_CODES) as (keyof typeof ERROR_CODES)[]
  expect(listed.sort()).toEqual(codes.map(code => [code, statusOf(code), API_ERROR_MEANING[code]]).sort())
  for (const [code, , , remedy] of rows(bodies as string)) expect(remedy, code).toMatch(/\w/)
})

test('docs/http-api is what `npm run docs` writes', () => {
  const files = readdirSync(new URL('../../docs/http-api', import.meta.url))
  const stored = files.map(file => [file, textOf(`docs/http-api/${file}`)])
  expect(Object.fromEntries(stored)).toEqual(Object.fromEntries(httpApiPages()))
})

test('docs/http-api has every operation once', () => {
  const headings = [...httpApiPages().values()].flatMap(text => text.match(/^## `[A-Z]+ .*`$/gm) ?? [])
  expect(headings.sort()).toEqual(operationList.map(({ method, path }) => `## \`${method} ${path}\``).sort())
})

test('the version that the OpenAPI document names is that of the package', () => {
  const text = textOf('packages/engine/package.json')
  expect(JSON.parse(text)).toMatchObject({ version: ENGINE_VERSION })
})

test('docs/errors.md lists every error code of runs, and no other', () => {
  const [, runs] = page('errors').split('## Errors of runs')
  expect(
    rows(runs as string)
      .flatMap(([code]) => codesOf(code))
      .sort(),
  ).toEqual([...RunErrorCodeSchema.enum].sort())
})

test('docs/wire-protocol.md lists every field of a workflow, and no other', () => {
  const [, fields] = page('wire-protocol').split('### Fields of a workflow')
  const listed = rows((fields as string).split('\n### ')[0] as string).flatMap(([field]) => codesOf(field))
  expect(listed.sort()).toEqual(Object.keys(WorkflowRegistrationSchema.properties).sort())
})

test('docs/wire-protocol.md lists every opcode, and no other', () => {
  const [, opcodes] = page('wire-protocol').split('### Opcodes')
  const listed = rows((opcodes as string).split('\n### ')[0] as string).flatMap(([op]) => codesOf(op))
  expect(listed).toEqual(OpcodeSchema.anyOf.map(({ properties }) => properties.op.const))
})

test.each(Object.keys(flowControlMembers))('docs/flow-control.md explains the policy %s', policy => {
  expect(page('flow-control')).toMatch(new RegExp(`\\b${policy}\\b`))
})

test('docs/operating.md lists every setting, and no other', () => {
  const [settings] = page('operating').split('## One process')
  expect(
    rows(settings as string)
      .flatMap(([name]) => codesOf(name))
      .sort(),
  ).toEqual([...ENGINE_SETTINGS, ...ENGINE_SECRET_FILES].sort())
})

test('the two tutorials use different apps, so that the runner of one gets no run of the other', () => {
  const readme = textOf('README.md')
  const [, ofReadme] = /serve\(\{ app: '([\w-]+)'/.exec(readme) ?? []
  const [, ofQuickstart] = /npm create perdure ([\w-]+)/.exec(page('quickstart')) ?? []
  expect([ofReadme, ofQuickstart]).toEqual([expect.any(String), expect.any(String)])
  expect(ofReadme).not.toBe(ofQuickstart)
})

test('CONTRIBUTING.md has a reason for every dependency of development and every override', () => {
  const [, section = ''] = textOf('CONTRIBUTING.md').split('## Dependencies for development')
  const { devDependencies, overrides } = JSON.parse(textOf('package.json')) as Record<string, object | undefined>
  expect(
    rows(section)
      .flatMap(([packages]) => codesOf(packages))
      .sort(),
  ).toEqual(Object.keys(devDependencies ?? {}).sort())
  for (const name of Object.keys(overrides ?? {})) expect(section, name).toContain(`overridden: \`${name}\``)
})
