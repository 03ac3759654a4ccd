// The model, played: it reads the conversation and chooses, always in the same way. Yours calls an API here; this one
// is overloaded the first time it is asked, as those are.

import { RetryAfterError } from '@perdure/sdk'

export interface Message {
  role: 'user' | 'assistant' | 'tool'
  content: string
}

export type Reply = { kind: 'answer'; content: string } | { kind: 'tool'; tool: string; input: string }

let calls = 0

export async function callModel(messages: Message[], _signal: AbortSignal): Promise<Reply> {
  calls++
  if (calls === 1) throw new RetryAfterError('The model is overloaded', '100ms')
  const question = messages[0]?.content ?? ''
  const heard = messages.at(-1)?.content ?? ''
  const order = /\d+/.exec(question)?.[0] ?? '0'
  // A question that makes it go round in circles: the loop needs a bound.
  if (question.includes('meaning')) return { kind: 'tool', tool: 'ponder', input: heard.slice(0, 20) }
  if (messages.length === 1) return { kind: 'tool', tool: 'find-order', input: order }
  if (heard.startsWith('Order') && question.includes('back'))
    return { kind: 'tool', tool: 'refund-order', input: order }
  if (heard.startsWith('Refunded'))
    return { kind: 'answer', content: `Your money for order ${order} is on its way.` }
  if (heard.startsWith('A person')) return { kind: 'answer', content: `We cannot refund order ${order}.` }
  return { kind: 'answer', content: `Here is what we know. ${heard}` }
}
