// Reads the cases of the suite from the JSON files of packages/cli/conformance (docs/conformance.md#the-cases). Called by suite.ts.

import { readFileSync } from 'node:fs'
import Type, { type Static } from 'typebox'
import { Check, Errors } from 'typebox/schema'
import { packageFile } from '../../command-line/package-file.ts'
import { GROUPS, type Group } from './groups.ts'

const strict = { additionalProperties: false }
const optional = Type.Optional
const words = <Word extends string>(...all: Word[]) => Type.Enum<Word[]>(all)
const json = Type.Unknown()
const members = Type.Record(Type.String(), json)

const KeySchema = words('own', 'other')
const SignatureSchema = Type.Object(
  {
    keys: optional(Type.Array(KeySchema)),
    recipient: optional(KeySchema),
    offMs: optional(Type.Integer()),
    otherBody: optional(Type.Boolean()),
  },
  strict,
)
const ReceiptSchema = Type.Union([
  words('stored', 'stop', 'none'),
  Type.Object({ holdMs: Type.Integer() }, strict),
  Type.Object({ status: Type.Integer(), body: members }, strict),
])
const PassSchema = Type.Object(
  {
    data: optional(json),
    memo: optional(Type.Record(Type.String(), members)),
    attempt: optional(Type.Integer()),
    stepAttempts: optional(Type.Record(Type.String(), Type.Integer())),
    ctx: optional(members),
    event: optional(members),
    request: optional(members),
    version: optional(Type.Union([Type.String(), Type.Null()])),
    signature: optional(Type.Union([SignatureSchema, Type.String(), Type.Null()])),
    receipts: optional(Type.Array(ReceiptSchema, { minItems: 1 })),
  },
  strict,
)
const StatusSchema = Type.Union([Type.Integer(), words('4xx', '5xx')])
/** The other members are matchers of the opcode's fields. */
const StepSchema = Type.Object({ op: Type.String(), step: Type.String() })
const ReportSchema = Type.Union([
  Type.Literal('again'),
  Type.Object({ steps: optional(Type.Array(StepSchema)) }, strict),
])
const AnswerSchema = Type.Object(
  {
    status: optional(Type.Union([StatusSchema, Type.Array(StatusSchema)])),
    steps: optional(Type.Array(StepSchema)),
    data: optional(json),
    logs: optional(json),
    errorMessage: optional(Type.String()),
    sameBodyAsPass: optional(Type.Integer({ minimum: 1 })),
    reports: optional(Type.Array(ReportSchema)),
    moreReports: optional(Type.Boolean()),
  },
  strict,
)
const ExpectSchema = Type.Union([AnswerSchema, Type.Object({ oneOf: Type.Array(AnswerSchema) }, strict)])
const MoveSchema = Type.Union([
  Type.Object({ pass: PassSchema, expect: optional(ExpectSchema) }, strict),
  Type.Object({ frame: Type.Object({ type: Type.String(), payload: json }, strict) }, strict),
  Type.Object(
    { do: words('wait-for-registration', 'prove-with-other-key', 'ping', 'cut'), expect: optional(members) },
    strict,
  ),
])
const CaseSchema = Type.Object(
  {
    name: Type.String(),
    proves: Type.String({ pattern: '\\.$' }),
    workflow: optional(Type.String()),
    feature: optional(Type.String()),
    needs: optional(words('signing-key', 'runner', 'reports', 'proof')),
    atOnce: optional(Type.Boolean()),
    play: Type.Array(MoveSchema, { minItems: 1 }),
  },
  strict,
)
const FileSchema = Type.Object(
  {
    group: words(...GROUPS),
    transports: optional(Type.Array(words('http', 'connect'))),
    cases: Type.Array(CaseSchema),
  },
  strict,
)

export type Pass = Static<typeof PassSchema>
export type SignatureOfPass = Pass['signature']
export type Receipt = Static<typeof ReceiptSchema>
export type ExpectedStep = Static<typeof StepSchema> & Record<string, unknown>
export type ExpectedAnswer = Static<typeof AnswerSchema>
export type Expected = Static<typeof ExpectSchema>
export type Move = Static<typeof MoveSchema>
export type Transport = 'http' | 'connect'
export type Case = Static<typeof CaseSchema> & { group: Group }

/** The cases for a transport, in the order in which they are played. Throws if a file does not match the schema. */
export function casesOf(transport: Transport): Case[] {
  return GROUPS.map(fileOf)
    .filter(({ transports }) => transports?.includes(transport) ?? true)
    .flatMap(({ group, cases }) => cases.map(one => ({ ...one, group })))
}

function fileOf(group: Group): Static<typeof FileSchema> {
  const url = packageFile(`conformance/${group}.json`)
  const file: unknown = JSON.parse(readFileSync(url, 'utf8'))
  if (Check(FileSchema, file)) return file as Static<typeof FileSchema>
  const [, [first]] = Errors(FileSchema, file)
  throw new Error(`${url.pathname}${first?.instancePath}: ${first?.message}`)
}
