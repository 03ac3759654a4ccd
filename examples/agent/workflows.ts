// An agent: a model that chooses tools in a loop until it has an answer. Every call of the model and of a tool is a step,
// so a crash in turn 9 repeats only turn 9. Dangerous tools wait for the approval of a person.

import { createWorkflow, type WorkflowArgs } from 'perdure'
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
    concurrency: { limit: 10 }, // as many conversations as the model's rate limit allows
  },
  async ({ event, step, ctx }: WorkflowArgs<Ticket>) => {
    const { ticketId, text } = event.data
    // Every pass rebuilds this list from stored results; it is never kept in memory.
    const messages: Message[] = [{ role: 'user', content: text }]

    for (let turn = 1; turn <= TURNS_MAX; turn++) {
      const reply = await step.run(`turn ${turn}: model`, ({ signal }) => callModel(messages, signal))
      if (reply.kind === 'answer') return { status: 'answered', answer: reply.content, turns: turn }

      messages.push({ role: 'assistant', content: `${reply.tool} ${JSON.stringify(reply.input)}` })
      messages.push({ role: 'tool', content: await use(turn, reply.tool, reply.input) })
    }
    ctx.logger.warn('out of turns', { ticketId })
    return { status: 'out-of-turns', turns: TURNS_MAX }

    /** Returns the tool's output. If the model names an unknown tool, the output says so, and the model can correct it. */
    async function use(turn: number, name: string, input: string): Promise<string> {
      const tool = tools.get(name)
      if (!tool) return `There is no tool ${name}.`
      if (tool.isDangerous && !(await isAllowed(turn))) return 'A person has refused this.'
      return step.run(`turn ${turn}: ${name}`, ({ idempotencyKey }) => tool.run(input, idempotencyKey))
    }

    /** Waits for a verdict. The expression contains no text of the model, because the model could approve itself with it. */
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
