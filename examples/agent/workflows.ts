// An agent: a model that chooses tools, in a loop, until it has an answer. Every call of the model and of a tool is a
// step, so a crash in turn 9 repeats turn 9, not the nine calls before it. Dangerous tools wait for a person.

import { createWorkflow, type WorkflowArgs } from '@perdure/sdk'
import { callModel, type Message } from './model.ts'
import { tools } from './tools.ts'

export interface Ticket {
  ticketId: string
  text: string
}

export interface Verdict {
  ticketId: string
  turn: number
  by: string
  allowed: boolean
}

const TURNS_MAX = 6

export const supportAgent = createWorkflow(
  {
    name: 'support-agent',
    triggers: { event: 'ticket/opened' },
    retry: { maxAttempts: 4, initialMs: 50 },
    timeouts: { run: '2d' },
    concurrency: { limit: 10 }, // as many conversations as the model's rate limit bears
  },
  async ({ event, step, ctx }: WorkflowArgs<Ticket>) => {
    const { ticketId, text } = event.data
    // Rebuilt on every pass from stored results, never kept in memory.
    const messages: Message[] = [{ role: 'user', content: text }]

    for (let turn = 1; turn <= TURNS_MAX; turn++) {
      const reply = await step.run(`turn ${turn}: model`, ({ signal }) => callModel(messages, signal))
      if (reply.kind === 'answer') return { status: 'answered', answer: reply.content, turns: turn }

      messages.push({ role: 'assistant', content: `${reply.tool} ${JSON.stringify(reply.input)}` })
      messages.push({ role: 'tool', content: await use(turn, reply.tool, reply.input) })
    }
    ctx.logger.warn('out of turns', { ticketId })
    return { status: 'handed-over', turns: TURNS_MAX }

    /** What the tool says. A model may name tools that are none: told so, it can do better. */
    async function use(turn: number, name: string, input: string): Promise<string> {
      const tool = tools.get(name)
      if (!tool) return `There is no tool ${name}.`
      if (tool.isDangerous && !(await isAllowed(turn))) return 'A person has refused this.'
      return step.run(`turn ${turn}: ${name}`, ({ idempotencyKey }) => tool.run(input, idempotencyKey))
    }

    /** Nothing that a model has written goes into the expression: it would be a way to approve itself. */
    async function isAllowed(turn: number): Promise<boolean> {
      const verdict = await step.waitForEvent<Verdict>(`turn ${turn}: approval`, {
        event: 'agent/judged',
        if: `async.data.ticketId == event.data.ticketId && async.data.turn == ${turn}`,
        timeout: '1d',
      })
      return verdict?.data.allowed === true
    }
  },
)
