// The model, the tools and the mail of docs/agents.md. Used by agents.test.ts.

import { tool } from 'ai'
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test'
import { z } from 'zod'

type Generated = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>
type Prompt = Parameters<MockLanguageModelV4['doGenerate']>[0]['prompt']

const counted = { total: 40, noCache: 40, cacheRead: undefined, cacheWrite: undefined }
const usage = { inputTokens: counted, outputTokens: { total: 10, text: 10, reasoning: undefined } }

/** Looks the order up, refunds it, and answers. A question with `for ever` makes it look up orders endlessly. */
function nextOf(prompt: Prompt): { tool: string } | { text: string } {
  const results = prompt.filter(({ role }) => role === 'tool')
  if (JSON.stringify(prompt).includes('for ever') || results.length === 0) return { tool: 'findOrder' }
  if (results.length === 1) return { tool: 'refund' }
  return { text: JSON.stringify(results).includes('refused') ? 'I may not refund it.' : 'The money is on its way.' }
}

const finishOf = (next: ReturnType<typeof nextOf>) => ({
  unified: 'tool' in next ? ('tool-calls' as const) : ('stop' as const),
  raw: undefined,
})
const callOf = (name: string) => ({
  type: 'tool-call' as const,
  toolCallId: `call-${name}`,
  toolName: name,
  input: '{"order":"17"}',
})

export const model = new MockLanguageModelV4({
  doGenerate: async ({ prompt }): Promise<Generated> => {
    const next = nextOf(prompt)
    const content = 'tool' in next ? callOf(next.tool) : { type: 'text' as const, text: next.text }
    return { content: [content], finishReason: finishOf(next), usage, warnings: [] }
  },
  doStream: async ({ prompt }) => {
    const next = nextOf(prompt)
    const parts =
      'tool' in next
        ? [callOf(next.tool)]
        : [
            { type: 'text-start' as const, id: '1' },
            { type: 'text-delta' as const, id: '1', delta: next.text },
            { type: 'text-end' as const, id: '1' },
          ]
    const finish = { type: 'finish' as const, finishReason: finishOf(next), usage }
    return { stream: convertArrayToReadableStream([...parts, finish]) }
  },
})

const inputSchema = z.object({ order: z.string() })
export const tools = { findOrder: tool({ inputSchema }), refund: tool({ inputSchema }) }

/** The calls of tools, in order. */
export const called: string[] = []
export async function callTool(name: string, _input: unknown, _key?: string) {
  called.push(name)
  return { done: name }
}

/** The mails, in order. */
export const mails: string[] = []
export async function mail(_to: string, text: string) {
  mails.push(text)
}
