// Passes that wait for the history to answer them, for simulations that decide when and how each pass ends.

import type { InvokeCall, InvokeReply } from '../../../packages/engine/src/ports/transport.ts'

/** A pass that waits for its answer. */
export interface WaitingPass {
  runId: string
  memo: Record<string, { data?: unknown; error?: unknown; pending?: boolean }>
  /** For a cleanup run, the steps of the run it follows. Otherwise absent. */
  followed?: Record<string, { name: string; rollback?: true }> | undefined
  answer(status: number, body: unknown): void
  /** Reports during the pass. Undefined: the pass is obsolete. Never settles if the engine dies. */
  checkpoint(payload: unknown): Promise<string | undefined>
}

export interface WaitOptions {
  /** Starts the deadline of the pass; returns a function that stops it. */
  deadline?: (expire: () => void) => () => void
  /** Whether the engine that sent the pass has died. Nothing can end the pass then. */
  isDead?: () => boolean
}

export class WaitingPasses extends Set<WaitingPass> {
  of(runId: string): WaitingPass | undefined {
    return [...this].find(pass => pass.runId === runId)
  }

  /** Keeps an invoke waiting until it is answered, is aborted or expires. */
  wait({ body, signal, onCheckpoint }: InvokeCall, options: WaitOptions = {}): Promise<InvokeReply> {
    const { deadline = () => () => {}, isDead = () => false } = options
    const { ctx, steps } = JSON.parse(body) as {
      ctx: { runId: string; cleanup?: { steps: WaitingPass['followed'] } }
      steps: WaitingPass['memo']
    }
    return new Promise(resolve => {
      const end = (reply: InvokeReply) => {
        if (isDead()) return
        this.delete(pass)
        stopDeadline()
        resolve(reply)
      }
      const pass: WaitingPass = {
        runId: ctx.runId,
        memo: steps,
        followed: ctx.cleanup?.steps,
        answer: (status, body) => end({ kind: 'answered', status, body: JSON.stringify(body) }),
        checkpoint: async payload => onCheckpoint?.(JSON.stringify(payload)),
      }
      const stopDeadline = deadline(() => end({ kind: 'broken', message: 'the runner took too long' }))
      this.add(pass)
      signal.addEventListener('abort', () => end({ kind: 'aborted' }))
    })
  }
}
