// The runner that breakages change: the SDK's passes behind the test kit's runner, with a runner's checks of version and
// signature before a pass. It shares no signature code with the engine or the SDK.

import { createHash, createHmac } from 'node:crypto'
import { createHandler } from '../../packages/sdk/src/runner/handler.ts'
import type { Handler } from '../kit/index.ts'
import type { Invoke } from '../kit/runner/runner-record.ts'
import type { Opcode } from '../kit/runner/wire.ts'
import { SDK_WORKFLOWS } from './sdk-workflows.ts'

export const SIGNING_KEY = 'a-signing-key-of-the-conformance-tests'
export const APP = 'conform'
export const RUNNER = 'conform-1'

/** An answer with parts that breakages change. */
export interface Reply {
  status: number
  body: Record<string, unknown> & { opcodes?: Opcode[] }
}

const sdk = createHandler({ app: APP, workflows: SDK_WORKFLOWS, signingKey: SIGNING_KEY })

export async function pass({ event, steps, ctx }: Invoke): Promise<Reply> {
  const { status, body } = await sdk.invoke({ event, steps, ctx })
  return { status, body: JSON.parse(body) }
}

/** The handler behind the checks of version and signature. */
export function guarded(handler: Handler): Handler {
  return (invoke, record) => {
    const { 'x-engine-protocol': version = '1', 'x-engine-signature': signature = '' } = invoke.headers
    if (version !== '1') return refusal(400)
    return refusalOf(invoke.raw, String(signature)) ?? handler(invoke, record)
  }
}

export const workflowsOf = (handler: Handler) => Object.fromEntries(SDK_WORKFLOWS.map(({ name }) => [name, handler]))

function refusalOf(body: string, signature: string) {
  const parts = signature.split(',').map(part => part.split('=') as [string, string])
  const given = (name: string) => parts.filter(([key]) => key === name).map(([, value]) => value)
  const [t = '', recipient = ''] = [given('t')[0], given('r')[0]]
  const isFresh = Math.abs(Date.now() / 1000 - Number(t)) <= 300
  const mac = (prefix: string) => createHmac('sha256', SIGNING_KEY).update(`${prefix}${body}`).digest('hex')
  if (given('v2').length === 0) return isFresh && given('v1').includes(mac(`${t}.`)) ? undefined : refusal(401)
  if (!isFresh || !given('v2').includes(mac(`v2.invoke.${t}.${recipient}.`))) return refusal(401)
  const own = createHash('sha256').update(`${APP}\n${RUNNER}`).digest('hex')
  return recipient === own ? undefined : refusal(503)
}

function refusal(status: number) {
  return { status, body: { error: { message: 'refused' }, logs: [] } }
}
