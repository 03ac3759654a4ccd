// The tools of the agent. The model gets their descriptions, and steps of the workflow execute them.

import { type Tool, tool } from 'ai'
import { z } from 'zod'

interface AgentTool {
  /** Description for the model. It has no `execute`: the workflow executes the calls. */
  description: Tool
  /** A person must agree to each call. */
  asksPerson: boolean
  run(input: unknown, idempotencyKey: string): Promise<string>
}

const order = z.object({ order: z.number() })

export const agentTools: Readonly<Record<string, AgentTool>> = {
  'find-order': {
    description: tool({ description: 'Looks up an order.', inputSchema: order }),
    asksPerson: false,
    run: async input => `Order ${order.parse(input).order}: 1 tent, 240.00, delivered on Monday.`,
  },
  'refund-order': {
    description: tool({ description: 'Gives the money for an order back.', inputSchema: order }),
    asksPerson: true,
    // A payment service drops a second call with the same key.
    run: async (input, key) => `Order ${order.parse(input).order} is refunded (${key.slice(-6)}).`,
  },
  ponder: {
    description: tool({ description: 'Thinks once more.', inputSchema: z.object({ thought: z.string() }) }),
    asksPerson: false,
    run: async () => 'It is still not clear.',
  },
}
