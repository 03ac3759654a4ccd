// Commands that do the same as a call of the console: `curl`, built from the request that the client would send, and `perdure`.

import type { Calls, Input } from '@perdure/client'
import { createOperations } from '@perdure/client/internal'
import { ENGINE_URL } from '../../router/base.ts'
import { currentSession } from '../../session/session.ts'
import { parse, stringify } from '../json/parse.ts'
import { PERDURE } from './perdure.ts'
import { quoted } from './quote.ts'

export interface Command {
  /** Absent if the command line cannot do it. */
  perdure?: string
  curl: string
}

/** An operation and its input. */
export type Call = { [Id in keyof Calls]: { id: Id; input: Input<Id> } }[keyof Calls]

interface Sent {
  method: string
  url: string
  body?: string
}

/** Returns the request of a call. Sends nothing. */
async function requestOf({ id, input }: Call): Promise<Sent> {
  let sent: Sent | undefined
  const client = createOperations({
    url: ENGINE_URL,
    json: { parse, stringify },
    fetch: (url, init) => {
      sent = { method: init?.method ?? 'GET', url: String(url), ...(init?.body ? { body: String(init.body) } : {}) }
      throw new Error('not sent')
    },
  })
  await (client[id] as (input: unknown) => Promise<unknown>)(input).catch(() => {})
  if (!sent) throw new Error('the call has no request')
  return sent
}

/** Returns the commands that do the same as a call. */
export async function commandsOf(call: Call): Promise<Command> {
  const { method, url, body } = await requestOf(call)
  const words = (PERDURE[call.id] as ((input: unknown) => string[] | undefined) | undefined)?.(call.input)
  const key = currentSession().whoami?.open ? '' : ' -H "Authorization: Bearer $ENGINE_API_KEY"'
  const verb = method === 'GET' ? '' : ` -X ${method}`
  const data = body === undefined ? '' : ` -H 'content-type: application/json' -d ${quoted(body)}`
  return {
    ...(words && { perdure: `perdure ${words.map(quoted).join(' ')}` }),
    curl: `curl${key}${verb} ${quoted(url)}${data}`,
  }
}
