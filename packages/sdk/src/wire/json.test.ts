// The types of stored values: against schemas of zod, valibot and arktype, and the messages and results of the `ai` package.
// Most of it is only type-checked.

import type { Client, Json, NoBigInt } from '@perdure/client'
import { generateObject, generateText, type JSONValue, type LanguageModel, type ModelMessage, type UIMessage } from 'ai'
import { type } from 'arktype'
import ts from 'typescript'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { testEngine } from '../testing/index.ts'
import { createWorkflow } from '../workflow/create-workflow.ts'
import type { StepTools } from '../workflow/workflow.ts'

declare const brand: unique symbol
type OrderId = string & { readonly __brand: 'OrderId' }
type Cents = number & { readonly [brand]: 'Cents' }

describe('values that JSON keeps have their own type', () => {
  test('branded and open-ended texts and numbers', () => {
    expectTypeOf<Json<OrderId>>().toEqualTypeOf<OrderId>()
    expectTypeOf<Json<Cents>>().toEqualTypeOf<Cents>()
    expectTypeOf<Json<'a' | (string & {})>>().toEqualTypeOf<'a' | (string & {})>()
    expectTypeOf<Json<{ id: OrderId; at: Date; code: `x-${string}` }>>().toEqualTypeOf<{
      id: OrderId
      at: string
      code: `x-${string}`
    }>()
  })

  test('brands of zod, valibot and arktype, of texts and of objects', () => {
    const userId = z.string().brand<'UserId'>()
    const user = z.object({ id: userId, at: z.date(), note: z.string().optional() }).brand<'User'>()
    const account = z.object({ id: userId }).brand<'Account'>()
    const sku = v.pipe(v.string(), v.brand('Sku'))
    const item = v.pipe(v.object({ sku, count: v.number() }), v.brand('Item'))
    const email = type('string.email#email')
    expectTypeOf<Json<z.infer<typeof userId>>>().toEqualTypeOf<z.infer<typeof userId>>()
    expectTypeOf<Json<z.infer<typeof user>>['id']>().toEqualTypeOf<z.infer<typeof userId>>()
    expectTypeOf<Json<z.infer<typeof user>>['at']>().toEqualTypeOf<string>()
    expectTypeOf<Json<z.infer<typeof account>>>().toExtend<z.infer<typeof account>>()
    expectTypeOf<Json<v.InferOutput<typeof sku>>>().toEqualTypeOf<v.InferOutput<typeof sku>>()
    expectTypeOf<Json<v.InferOutput<typeof item>>>().toExtend<v.InferOutput<typeof item>>()
    expectTypeOf<Json<typeof email.infer>>().toEqualTypeOf<typeof email.infer>()
  })

  test('in results of steps, children, and runs that a client starts', () => {
    const child = createWorkflow({ name: 'c' }, async () => ({ id: 'x' as OrderId, at: new Date() }))
    const calls = async (step: StepTools, client: Client) => {
      expectTypeOf(await step.run('a', () => 'x' as OrderId)).toEqualTypeOf<OrderId>()
      expectTypeOf(await step.runWorkflow('c', { workflow: child })).toEqualTypeOf<{ id: OrderId; at: string }>()
      expectTypeOf(await (await client.start(child)).result()).toEqualTypeOf<{ id: OrderId; at: string }>()
    }
    expect(calls).toBeTypeOf('function')
  })
})

describe('values that JSON changes', () => {
  test('undefined is null as a result and in an array, and nothing as a member', async () => {
    expectTypeOf<Json<undefined>>().toEqualTypeOf<null>()
    expectTypeOf<Json<{ a: 1 } | undefined>>().toEqualTypeOf<{ a: 1 } | null>()
    expectTypeOf<Json<(string | undefined)[]>>().toEqualTypeOf<(string | null)[]>()
    expectTypeOf<Json<{ a?: string; b: Date | undefined }>>().toEqualTypeOf<{ a?: string; b: string | undefined }>()
    const find = createWorkflow({ name: 'find' }, ({ step }) => step.run('find', () => [1].find(n => n > 1)))
    const ask = createWorkflow({ name: 'ask' }, async ({ step }) => {
      const seen = [await step.run('own', () => undefined), await step.runWorkflow('child', { workflow: find })]
      await step.sleep('a while', '1h')
      return { seen, isNull: seen.every(one => one === null) }
    })
    await using engine = await testEngine([ask, find])
    const run = await engine.start(ask)
    expect(await run.result({ within: '2h' })).toEqual({ seen: [null, null], isNull: true })
    expect(await (await engine.start(find)).result()).toBeNull()
  })

  test('functions, dates, binary data, collections and BigInts', () => {
    expectTypeOf<
      Json<{ at: Date; f(): void; g?: () => void; raw: Uint8Array; m: Map<string, number> }>
    >().toEqualTypeOf<{
      at: string
      g?: undefined
      raw: never
      m: Record<string, never>
    }>()
    expectTypeOf<Json<string | Buffer | ArrayBuffer>>().toEqualTypeOf<string>()
    expectTypeOf<Json<readonly [1, undefined, URL]>>().toEqualTypeOf<readonly [1, null, string]>()
    expectTypeOf<Json<[Date, undefined, () => void]>>().toEqualTypeOf<[string, null, null]>()
    expectTypeOf<Json<readonly Date[] | null | { d: Date }>>().toEqualTypeOf<readonly string[] | null | { d: string }>()
    expectTypeOf<Json<Map<string, number>>>().toEqualTypeOf<Record<string, never>>()
    expectTypeOf<Json<{ n: bigint }>>().toEqualTypeOf<{ n: NoBigInt }>()
    expectTypeOf<Json<bigint>>().toEqualTypeOf<NoBigInt>()
    expectTypeOf<Json<symbol>>().toBeNever()
    expectTypeOf<Json<unknown>>().toBeUnknown()
    expectTypeOf<Json<unknown[]>>().toEqualTypeOf<unknown[]>()
  })
})

test('messages and results of the ai package', () => {
  const model = null as unknown as LanguageModel
  const calls = async (step: StepTools) => {
    const messages = await step.run('messages', async (): Promise<UIMessage[]> => [])
    expectTypeOf(messages).toExtend<UIMessage[]>()
    expectTypeOf(await step.run('json', async (): Promise<JSONValue> => null)).toEqualTypeOf<JSONValue>()
    const schema = z.object({ name: z.string(), at: z.date() })
    const object = await step.run('object', async () => (await generateObject({ model, schema, prompt: 'x' })).object)
    expectTypeOf(object).toEqualTypeOf<{ name: string; at: string }>()
    // A file of a model message may be a URL or binary data, so the type after JSON is another one.
    const history = (await step.run('load', async (): Promise<ModelMessage[]> => [])) as ModelMessage[]
    const answer = await step.run('ask', async () => {
      const { text, usage, responseMessages } = await generateText({ model, messages: history })
      return { text, usage, responseMessages }
    })
    expectTypeOf(answer.text).toEqualTypeOf<string>()
    expectTypeOf(answer.usage.totalTokens).toEqualTypeOf<number | undefined>()
    return [...history, ...(answer.responseMessages as ModelMessage[])]
  }
  expect(calls).toBeTypeOf('function')
})

test('with the published types, declarations name recursive results', () => {
  const file = new URL('declared.ts', import.meta.url).pathname
  const source = `
    import type { StepTools } from '@perdure/sdk'
    export interface Tree { name: string; at: Date; children: Tree[] }
    declare const step: StepTools
    export const tree = step.run('tree', async (): Promise<Tree> => null as never)
    export const plain = step.run('plain', async (): Promise<{ a: string; list: number[] }> => null as never)
  `
  const options: ts.CompilerOptions = {
    strict: true,
    declaration: true,
    emitDeclarationOnly: true,
    noLib: false,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    skipLibCheck: true,
    types: [],
  }
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists } = host
  host.fileExists = path => path === file || fileExists(path)
  host.getSourceFile = (path, ...rest) =>
    path === file ? ts.createSourceFile(path, source, rest[0]) : getSourceFile(path, ...rest)
  let declared = ''
  const program = ts.createProgram([file], options, host)
  program.emit(program.getSourceFile(file), (_, text) => {
    declared = text
  })
  expect(declared).toContain('export declare const tree: Promise<import("@perdure/client").JsonObject<Tree>>')
  expect(declared).toMatch(/plain: Promise<\{\s+a: string;\s+list: number\[\];\s+\}>/)
})
