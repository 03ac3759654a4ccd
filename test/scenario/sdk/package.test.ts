// The SDK as its users get it: packed, unpacked next to a project's other packages, and used by ES modules, CommonJS and
// TypeScript. Every entry of `exports` is tried, including future ones.

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { beforeAll, describe, expect, test } from 'vitest'
import { onCleanup } from '../../kit/index.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const { exports, files } = JSON.parse(readFileSync(join(root, 'packages/sdk/package.json'), 'utf8')) as {
  exports: Record<string, unknown>
  files: string[]
}
const specifiers = Object.keys(exports).map(subpath => `@perdure/sdk${subpath.slice(1)}`)

/** The other packages that a project with every adapter has installed. */
const BESIDES = [
  ...['ws', '@standard-schema/spec', '@types/node', 'undici-types'],
  ...['@perdure/engine', '@perdure/client', '@perdure/protocol', 'ai'],
]

let project = ''
let packed: string[] = []

const write = (name: string, text: string) => writeFileSync(join(project, name), text)

/** Runs a file of the project; returns the JSON that it printed. */
function run(name: string): unknown {
  // The options of the test process (above all the condition for our own sources) do not apply to the project.
  const { NODE_OPTIONS: _, ...env } = process.env
  const text = execFileSync(process.execPath, ['--no-warnings', name], {
    cwd: project,
    encoding: 'utf8',
    env,
  })
  return JSON.parse(text)
}

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'perdure-package-'))
  onCleanup(() => rmSync(project, { recursive: true, force: true }))
  const home = join(project, 'node_modules/@perdure/sdk')
  mkdirSync(home, { recursive: true })
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', project]
  const [tarball] = JSON.parse(
    execFileSync('npm', pack, {
      cwd: join(root, 'packages/sdk'),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  ) as { filename: string; files: { path: string }[] }[]
  packed = (tarball?.files ?? []).map(({ path }) => path)
  const filename = (tarball?.filename ?? '').replace('@', '').replace('/', '-')
  execFileSync('tar', ['-xzf', join(project, filename), '-C', home, '--strip-components=1'])
  for (const name of BESIDES) {
    const link = join(project, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), link)
  }
  write('package.json', JSON.stringify({ name: 'project', private: true, type: 'module' }))
})

test('nothing but the built files is packed', () => {
  expect(files).toEqual(['dist'])
  const others = packed.filter(path => !path.startsWith('dist/'))
  expect(others.filter(path => !/^(package\.json|README\.md|LICENSE)$/.test(path))).toEqual([])
  expect(packed.filter(path => !/\.(js|cjs|d\.ts|d\.cts)$/.test(path))).toEqual(others)
})

/** The names that an entry exports according to its declarations, including types. */
function namesOf(entry: string): string[] {
  const text = readFileSync(join(root, `packages/sdk/dist/${entry}.d.ts`), 'utf8')
  const list = /export \{([^}]*)\};?\s*$/.exec(text)?.[1] ?? ''
  return list.split(',').map(item => item.trim().replace(/^(.* as |type )/, ''))
}

test('the reference has a page of every entry, with every name (`npm run docs` writes it)', () => {
  for (const subpath of Object.keys(exports)) {
    const [entry, page] = subpath === '.' ? ['index', 'sdk'] : [subpath.slice(2), subpath.slice(2)]
    const text = readFileSync(join(root, `docs/sdk/${page}.md`), 'utf8').replaceAll('\\', '')
    const names = namesOf(entry)
    expect(names.length).toBeGreaterThan(1)
    expect(names.filter(name => !new RegExp(`^### ${name}\\b`, 'm').test(text))).toEqual([])
  }
})

/** All values that each adapter exports. */
const ADAPTERS = {
  '@perdure/sdk/node': ['createNodeHandler', 'serve'],
  '@perdure/sdk/hono': ['createHonoHandler', 'serve'],
  '@perdure/sdk/express': ['createExpressHandler', 'serve'],
  '@perdure/sdk/fastify': ['perdure'],
  '@perdure/sdk/next': ['serve', 'serveApiRoute'],
  '@perdure/sdk/bun': ['createBunHandler', 'serve'],
  '@perdure/sdk/elysia': ['perdure'],
  '@perdure/sdk/connect': ['connect'],
  '@perdure/sdk/ai': ['PerdureChatTransport', 'streamUI'],
  '@perdure/sdk/testing': ['RunFailedError', 'TestingError', 'testEngine'],
}

describe('at run time', () => {
  test('an ES module imports every entry', () => {
    write(
      'all.mjs',
      `const names = {}
      for (const name of ${JSON.stringify(specifiers)}) names[name] = Object.keys(await import(name)).sort()
      console.log(JSON.stringify(names))`,
    )
    write(
      'all.cjs',
      `const names = {}
      for (const name of ${JSON.stringify(specifiers)}) names[name] = Object.keys(require(name)).sort()
      console.log(JSON.stringify(names))`,
    )
    const [imported, required] = [run('all.mjs'), run('all.cjs')]
    expect(Object.keys(imported as object)).toEqual(specifiers)
    expect(imported).toMatchObject(ADAPTERS)
    expect(required).toEqual(imported)
  })

  test('a workflow of a CommonJS file is served by an ES module, and each knows the errors of the other', () => {
    write(
      'workflows.cjs',
      `const sdk = require('@perdure/sdk')
      exports.sdk = sdk
      exports.hello = sdk.createWorkflow({ name: 'hello' }, async ({ step }) => {
        try {
          await step.run('pay', () => { throw new sdk.NonRetriableError('declined') })
        } catch (error) {
          return { isStepFailed: error instanceof sdk.StepFailedError, message: error.message }
        }
      })`,
    )
    write(
      'mixed.mjs',
      `import * as esm from '@perdure/sdk'
      import { hello, sdk as cjs } from './workflows.cjs'
      const handler = esm.createHandler({ app: 'shop', workflows: [hello], signingKey: [] })
      const pass = async steps => {
        const ctx = { runId: 'run_1', workflow: 'hello', attempt: 1, app: 'shop', runner: '' }
        const rawBody = JSON.stringify({ event: { name: 'hello' }, steps, ctx })
        return JSON.parse((await handler.handle({ headers: { 'content-type': 'application/json' }, rawBody })).body)
      }
      const [failed] = (await pass({})).opcodes
      const { data } = await pass({ [failed.id]: { error: failed.error } })
      const thrown = kit => [
        new kit.NonRetriableError('x'), new kit.RetryAfterError('x', 1), new kit.InvalidDataError('x', []),
        new kit.StepFailedError('x', { message: 'x' }), new kit.PerdureError({ code: 'x', status: 0, message: 'x' }),
        new kit.ApiError({ code: 'x', status: 400, message: 'x' }), new kit.ConnectionError('http://x', 'x'),
        new kit.RunEndedError({ id: 'run_1', status: 'cancelled' }),
      ]
      const known = (theirs, ours) => thrown(theirs).map(error => error instanceof ours[error.constructor.name])
      console.log(JSON.stringify({
        isCopy: esm.StepFailedError !== cjs.StepFailedError,
        retriable: failed.retriable, data, known: [known(esm, cjs), known(cjs, esm)],
      }))`,
    )
    expect(run('mixed.mjs')).toEqual({
      isCopy: true,
      retriable: false,
      data: { isStepFailed: true, message: 'declined' },
      known: [Array(8).fill(true), Array(8).fill(true)],
    })
  })
})

const importsOf = (names: string[]) => `
${names.map((name, index) => `import * as entry${index} from '${name}'`).join('\n')}
export const entries = [${names.map((_, index) => `entry${index}`).join(', ')}]
`
const entries = importsOf(specifiers.filter(name => !name.endsWith('/testing')))
/** The testing kit imports the types of the engine. It is checked only once, because the check is slow. */
const allEntries = importsOf(specifiers)

/** Uses the SDK: what TypeScript must infer, and what it must refuse. */
const CONSUMER = `
import { createFetchHandler, createWorkflow, StepFailedError, type WorkflowArgs } from '@perdure/sdk'
export const double = createWorkflow({ name: 'double' }, async ({ event, step }: WorkflowArgs<{ n: number }>) => {
  const twice: number = await step.run('double', () => event.data.n * 2)
  // @ts-expect-error: a number it is
  const text: string = twice
  return { twice, text }
})
export const handle: (request: Request) => Promise<Response> = createFetchHandler({ app: 'a', workflows: [double] })
export const nameOf = (error: unknown) => (error instanceof StepFailedError ? error.stepName : undefined)
// @ts-expect-error: an app it needs
createFetchHandler({ workflows: [double] })
`

/** Problems that TypeScript finds in files of the project and in the package's own declarations. */
function problems(options: ts.CompilerOptions, names: string[]): string[] {
  const program = ts.createProgram(
    names.map(name => join(project, name)),
    {
      target: ts.ScriptTarget.ES2023,
      lib: ['lib.es2023.d.ts'],
      types: ['node'],
      typeRoots: [join(project, 'node_modules/@types')],
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      ...options,
    },
  )
  const sources = program
    .getSourceFiles()
    .filter(({ fileName }) => fileName.startsWith(project) && !fileName.includes('/@types/'))
  expect(sources.filter(({ isDeclarationFile }) => isDeclarationFile).length).toBeGreaterThan(5)
  return [...program.getOptionsDiagnostics(), ...sources.flatMap(source => diagnostics(program, source))].map(
    ({ file, messageText }) => `${file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
  )
}

function diagnostics(program: ts.Program, source: ts.SourceFile): readonly ts.Diagnostic[] {
  return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
}

describe('to TypeScript, strictly', () => {
  test('ES modules and CommonJS by node16, also when one imports the other', () => {
    write('esm.mts', CONSUMER + allEntries)
    write('commonjs.cts', CONSUMER + entries)
    write(
      'mixed.mts',
      `import { createHandler } from '@perdure/sdk'
      import { double as theirs } from './commonjs.cjs'
      import { double as ours } from './esm.mjs'
      export const handler = createHandler({ app: 'a', workflows: [theirs, ours] })`,
    )
    const node16 = { module: ts.ModuleKind.Node16, moduleResolution: ts.ModuleResolutionKind.Node16 }
    expect(problems(node16, ['esm.mts', 'commonjs.cts', 'mixed.mts'])).toEqual([])
  })
})
