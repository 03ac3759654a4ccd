// A chat agent: the model chooses tools until it has an answer. Each call of the model and of a tool is a step, the tool that moves
// money waits for a person, and a budget stops a model that goes round in circles.

import { createWorkflow, type WorkflowArgs } from 'perdure'
import { type Message, model, type ToolCall } from './model.ts'

export interface Question {
  question: string
}

export interface Verdict {
  by: string
  approved: boolean
}

export const agent = createWorkflow(
  { name: 'agent', triggers: { event: 'question/asked' }, budget: { usd: 0.1, steps: 100 } },
  async ({ event, step, ctx }: WorkflowArgs<Question>) => {
    const messages: Message[] = [{ role: 'user', text: event.data.question }]

    for (let turn = 1; ; turn++) {
      const reply = await step.run(`model ${turn}`, async ({ spend, signal }) => {
        const { tokens, ...said } = await model(messages, signal)
        spend({ usd: tokens * 0.00001, tokens })
        return said
      })
      messages.push({ role: 'assistant', text: reply.text })
      if (reply.calls.length === 0) return { answer: reply.text, turns: turn }
      for (const call of reply.calls) messages.push({ role: 'tool', text: await use(turn, call) })
    }

    /** The result of a tool, or a sentence that lets the model continue. */
    async function use(turn: number, { tool, input }: ToolCall): Promise<string> {
      const run = tools[tool]
      if (run === undefined) return `There is no tool ${tool}.`
      if (tool === 'refund') {
        const verdict = await ask(`approval ${turn}`, `Refund order ${input}?`)
        if (verdict?.approved !== true) return 'A person refused this.'
      }
      return step.run(`${tool} ${turn}`, ({ idempotencyKey }) => run(input, idempotencyKey))
    }

    /** Mails a link to a person, and waits a day for the answer. */
    async function ask(name: string, text: string) {
      const answer = ctx.callback<Verdict>(name, { timeout: '1d' })
      await step.run(`mail for ${name}`, () => mail('support', text, answer.url))
      return answer.wait()
    }
  },
)

// The rest stands for other services.

const tools: Record<string, (input: string, key: string) => Promise<string>> = {
  'find-order': async input => `Order ${input}: 1 tent, delivered.`,
  refund: async (input, key) => `Refunded order ${input} (${key.slice(-6)}).`,
}

async function mail(to: string, text: string, link: string) {
  return { to, text, link }
}
