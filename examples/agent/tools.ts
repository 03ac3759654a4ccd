// The tools of the agent. A dangerous tool needs the approval of a person.

export interface Tool {
  isDangerous: boolean
  run(input: string, idempotencyKey: string): Promise<string>
}

export const tools = new Map<string, Tool>([
  ['find-order', { isDangerous: false, run: async input => `Order ${input}: 1 tent, 240.00, delivered.` }],
  ['refund-order', { isDangerous: true, run: async (input, key) => `Refunded order ${input} (${key.slice(-6)}).` }],
])
