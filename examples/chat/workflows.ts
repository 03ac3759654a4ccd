// The agent behind the chat. One run gives one answer: a model in a loop with tools, whose words go to the output stream `chat`. Each call
// of the model and of a tool is a step, so a crash repeats only the step that it hit.

import { type ModelMessage, streamText } from 'ai'
import { createWorkflow, type WorkflowArgs } from 'perdure'
import { streamUI } from 'perdure/ai'
import { model } from './model.ts'
import { agentTools } from './tools.ts'

export interface Asked {
  chatId: string
  /** The conversation so far, with the question at its end. */
  messages: ModelMessage[]
}

interface Call {
  toolCallId: string
  toolName: string
  input: unknown
}

const tools = Object.fromEntries(Object.entries(agentTools).map(([name, { description }]) => [name, description]))

export const answerChat = createWorkflow(
  {
    name: 'answer-chat',
    triggers: { event: 'chat/asked' },
    retry: { maxAttempts: 4, initialMs: 200 },
    timeouts: { run: '2d' },
    // The loop has no other bound. `usd: 0.5` works in the same way.
    budget: { tokens: 4_000, whenExceeded: 'fail' },
  },
  async ({ event, step, ctx }: WorkflowArgs<Asked>) => {
    const messages = [...event.data.messages]
    const texts: string[] = []

    for (let turn = 1; ; turn++) {
      const { text, calls, said } = await step.run(`turn ${turn}: model`, async ({ stream, signal, spend }) => {
        // With an account, only `model` changes: `model: openai('gpt-5')`, for example.
        const result = streamText({ model, messages, tools, abortSignal: signal, maxRetries: 0, onError: () => {} })
        const text = await streamUI(stream('chat'), result)
        const { totalTokens = 0 } = await result.usage
        spend({ tokens: totalTokens })
        const calls = (await result.toolCalls).map(
          ({ toolCallId, toolName, input }): Call => ({ toolCallId, toolName, input }),
        )
        return { text, calls, said: await result.responseMessages }
      })
      if (text !== '') texts.push(text)
      if (calls.length === 0) return { answer: texts.join('\n\n'), turns: turn }
      messages.push(...(said as ModelMessage[]))
      for (const call of calls) {
        const output = { type: 'text' as const, value: await use(turn, call) }
        const { toolCallId, toolName } = call
        messages.push({ role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output }] })
      }
    }

    /** Executes a call of a tool, if it needs nobody or somebody agrees, and returns what the model reads. */
    async function use(turn: number, { toolCallId, toolName, input }: Call): Promise<string> {
      const tool = agentTools[toolName]
      if (!tool) return `There is no tool ${toolName}.`
      if (tool.asksPerson && !(await isAllowed(turn, toolCallId))) return 'A person has refused this.'
      return step.run(`turn ${turn}: ${toolName}`, async ({ stream, idempotencyKey }) => {
        const output = await tool.run(input, idempotencyKey)
        await stream('chat').write({ type: 'tool-output-available', toolCallId, output })
        return output
      })
    }

    /** Shows the question with its link on the page, and waits for the decision. Nobody answering for a day means no. */
    async function isAllowed(turn: number, toolCallId: string): Promise<boolean> {
      const decision = ctx.callback<{ approved: boolean }>(`turn ${turn}: decision`, { timeout: '1d' })
      await step.run(`turn ${turn}: ask`, async ({ stream }) => {
        // The link is the permission. If another person decides, send it there and leave it out here.
        const approvalDescriptor = { url: decision.url }
        await stream('chat').write({
          type: 'tool-approval-request',
          approvalId: toolCallId,
          toolCallId,
          approvalDescriptor,
        })
      })
      const approved = (await decision.wait())?.approved === true
      await step.run(`turn ${turn}: decided`, async ({ stream }) => {
        const out = stream('chat')
        await out.write({ type: 'tool-approval-response', approvalId: toolCallId, approved })
        if (!approved) await out.write({ type: 'tool-output-denied', toolCallId })
      })
      return approved
    }
  },
)
