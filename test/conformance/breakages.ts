// A breakage for every check of `perdure conform` on passes and headers: how a runner breaks only the rule that the check is
// about. conform.test.ts runs each.

import { hashStepId } from '@perdure/protocol'
import type { Handler } from '../kit/index.ts'
import type { Invoke } from '../kit/runner/runner-record.ts'
import { handler, type ReportingOptions, reportingPass } from './reporting.ts'
import { guarded, type Reply } from './runner.ts'

export interface Breakage {
  workflow: string
  handler: Handler
}

/** The runner changes the invoke before it runs the pass. */
const reads = (workflow: string, change: (invoke: Invoke) => Partial<Invoke>): Breakage => ({
  workflow,
  handler: guarded(invoke => handler({ ...invoke, ...change(invoke) })),
})

/** The runner changes its answer. */
const answers = (workflow: string, change: (reply: Reply, invoke: Invoke) => object): Breakage => ({
  workflow,
  handler: guarded(async invoke => {
    const reply = await handler(invoke)
    return { ...reply, ...change(reply, invoke) }
  }),
})

/** The runner sets fields of every opcode. */
const opcodes = (workflow: string, fields: object) =>
  answers(workflow, ({ status, body }) => ({
    status,
    body: { ...body, ...(body.opcodes && { opcodes: body.opcodes.map(opcode => ({ ...opcode, ...fields })) }) },
  }))

/** The runner gives this answer to every request. */
const always = (workflow: string, status: number, body: object): Breakage => ({
  workflow,
  handler: guarded(() => ({ status, body })),
})

/** The runner reports in another way. */
const reporting = (options: ReportingOptions): Breakage => ({
  workflow: 'conform-sequence',
  handler: guarded(invoke => reportingPass(invoke, options)),
})

/** The runner makes only this check before the pass. */
const door = (refuses: (invoke: Invoke) => boolean): Breakage => ({
  workflow: 'conform-sequence',
  handler: invoke => (refuses(invoke) ? { status: 401, body: { error: { message: 'no' } } } : handler(invoke)),
})

const open = door(() => false)
const signatureOf = ({ headers }: Invoke) => String(headers['x-engine-signature'] ?? '')
const entries = (steps: Invoke['steps'], change: (entry: object) => object) =>
  Object.fromEntries(Object.entries(steps).map(([id, entry]) => [id, change(entry)]))
/** The body with this in every opcode. */
const withGiven = (body: Reply['body'], given: object | undefined) =>
  given === undefined || !body.opcodes ? body : { ...body, opcodes: body.opcodes.map(one => ({ ...one, given })) }
const endsWithSteps = (ctx: object) => (ctx as { features?: string[] }).features?.includes('end-with-steps') === true
const hasSome = (steps: object) => Object.keys(steps).length > 0
const passes = { count: 0 }
let last: unknown

/** The breakages, by the name of the check that finds each. */
export const BREAKAGES: Record<string, Breakage> = {
  'executes the first step, reports its result, and stops there': opcodes('conform-sequence', { data: 6 }),
  'goes on with the stored result of a step, not with one of its own': reads('conform-sequence', ({ steps }) => ({
    steps: entries(steps, () => ({ data: 5 })),
  })),
  'returns when every step is stored': answers('conform-sequence', ({ status, body }) => ({
    body: status === 200 ? { data: 7 } : body,
  })),
  'reports its last step, with the end or before it, where the engine takes both together': answers(
    'conform-sequence',
    ({ status, body }, { ctx, steps }) =>
      endsWithSteps(ctx) && hasSome(steps) ? { status: 200, body: { data: { result: 200 } } } : { status, body },
  ),
  'begins no step there before the one before it is stored': answers('conform-sequence', ({ body }, { ctx, steps }) => {
    const more = { op: 'StepRun', id: hashStepId('double'), name: 'double', data: 10 }
    return endsWithSteps(ctx) && !hasSome(steps) ? { body: { ...body, opcodes: [...(body.opcodes ?? []), more] } } : {}
  }),
  'reports a failed step there before it ends the run by its error': answers(
    'conform-fail',
    ({ status, body }, { ctx }) =>
      endsWithSteps(ctx)
        ? { status: 400, body: { error: { message: 'declined', code: 'step_failed' } } }
        : { status, body },
  ),
  'answers a repeated pass as it did before': opcodes('conform-sequence', {
    get data() {
      return passes.count++
    },
  }),
  'keeps runs apart that are under way at once': reads('conform-sequence', ({ steps }) => {
    last ??= steps
    return { steps: last as Invoke['steps'] }
  }),
  'makes step ids of the UTF-8 bytes of a name, and gives repeats of it a position': opcodes('conform-repeat', {
    id: 'f'.repeat(64),
  }),
  'reports every step of one moment in one answer': answers('conform-parallel', ({ body }) => ({
    body: { opcodes: body.opcodes?.slice(0, 1) },
  })),
  'reports only those without an entry in the memo': reads('conform-parallel', () => ({ steps: {} })),
  'neither executes nor reports a pending step': reads('conform-parallel', ({ steps }) => ({
    steps: Object.fromEntries(Object.entries(steps).filter(([, { pending }]) => !pending)),
  })),
  'goes on when all are stored, in whatever order they settled': answers('conform-parallel', ({ body }) => ({
    body: { ...body, data: { parts: ['r', 'l'] } },
  })),
  'reports a failed attempt as an opcode with its error': always('conform-retry', 500, {
    error: { message: 'not yet' },
  }),
  'leaves the step alone until its next attempt is due': reads('conform-retry', () => ({ steps: {} })),
  'executes it again when it has no entry any more': reads('conform-retry', ({ ctx }) => ({
    ctx: { ...ctx, attempt: 1 },
  })),
  'counts the attempts of a step as the invoke does': reads('conform-attempt', ({ ctx }) => ({
    ctx: { ...ctx, stepAttempts: {} } as Invoke['ctx'],
  })),
  'takes the attempt of a step that is not listed there for its first one': answers(
    'conform-attempt',
    ({ status, body }, { ctx }) => ({
      status,
      body: ctx.attempt === 1 ? body : { opcodes: body.opcodes?.map(one => ({ ...one, data: ctx.attempt })) },
    }),
  ),
  'says that a step must not be tried again': opcodes('conform-final', { retriable: true }),
  'asks to have the error of a step back that its handler catches': opcodes('conform-catch', { catchable: false }),
  'throws a stored error where the step was called, and the handler may catch it': reads(
    'conform-catch',
    ({ steps }) => ({
      steps: entries(steps, () => ({ data: null })),
    }),
  ),
  'fails the run with a 4xx when a stored error is not caught': answers('conform-fail', () => ({ status: 500 })),
  'has the pass repeated with a 5xx when the handler throws outside of steps': answers('conform-throw', () => ({
    status: 400,
  })),
  'answers 404 for a workflow that it does not have': always('conform-unheard-of', 200, { data: null }),
  'reports a sleep with its milliseconds': opcodes('conform-sleep', { sleepMs: 1.5 }),
  'reports a sleep until a time with its epoch milliseconds': opcodes('conform-sleep', { sleepUntilMs: 1_700_000_000 }),
  'takes null, and an entry without data, for done': reads('conform-sleep', ({ steps }) => ({
    steps: entries(steps, entry => ('data' in entry ? entry : { pending: true })),
  })),
  'reports a wait with its event, timeout and filter': opcodes('conform-wait', { if: undefined }),
  'gives the handler the event': answers('conform-wait', ({ body }) => ({ body: { ...body, data: { by: null } } })),
  'says what the handler was given only where the engine takes that': answers(
    'conform-wait',
    ({ status, body }, { ctx }) => ({
      status,
      body: withGiven(body, (ctx as { features?: string[] }).features?.length ? undefined : { settled: 0 }),
    }),
  ),
  'says nothing there, or that a first wait comes after no event': answers(
    'conform-wait',
    ({ status, body }, { ctx }) => ({
      status,
      body: withGiven(
        body,
        (ctx as { features?: string[] }).features?.includes('wait-order') ? { settled: 12 } : undefined,
      ),
    }),
  ),
  'gives the handler null after the timeout': answers('conform-wait', ({ body }) => ({
    body: { ...body, data: null },
  })),
  'reports a child with its workflow and input': opcodes('conform-child', { childData: undefined }),
  "gives the handler the child's result": answers('conform-child', ({ body }) => ({
    body: { ...body, data: { child: 10 } },
  })),
  "throws the child's error, and the handler may catch it": answers('conform-child', () => ({ status: 400 })),
  'reports an emit with its event and data': opcodes('conform-effects', { eventName: 'told' }),
  'reports a webhook with its URL and data': opcodes('conform-effects', { webhookUrl: 'http://example.com' }),
  'goes on when both are stored': reads('conform-effects', () => ({ steps: {} })),
  'reports all that takes part': answers('conform-race', ({ body }) => ({ body: { opcodes: body.opcodes?.slice(1) } })),
  'waits while nobody has won': reads('conform-race', () => ({ steps: {} })),
  'goes on with the first that is stored, while the other is pending': answers(
    'conform-race',
    ({ status, body }, invoke) =>
      Object.values(invoke.steps).some(({ pending }) => pending)
        ? { status: 206, body: { opcodes: [] } }
        : { status, body },
  ),
  'has the winner that comes first in the memo when both are stored': answers('conform-race', ({ body }) => ({
    body: { ...body, data: { winner: 'signal' } },
  })),
  'calls the failure handler, with the error of the run that failed': reads('conform-failure', ({ ctx }) => ({
    ctx: { ...ctx, onFailure: false },
  })),
  'sends the log lines of the pass': answers('conform-logs', ({ body }) => ({ body: { ...body, logs: [] } })),
  'ignores fields that it does not know': answers('conform-sequence', (reply, invoke) =>
    'later' in invoke.ctx ? { status: 400 } : reply,
  ),
  'keeps any JSON as it is': answers('conform-echo', ({ status, body }) => ({
    status,
    body: JSON.parse(JSON.stringify(body).replaceAll('2.5', '2')),
  })),
  'does without the data of an event that has none': answers('conform-parallel', (reply, { event }) =>
    'data' in event ? reply : { status: 500 },
  ),
  'reports a step that has ended, and the next one under a higher seq': reporting({ seqOf: () => 1 }),
  'begins no step before the receipt of the one before it': reporting({ isHasty: true }),
  'sends a report without a receipt again under its seq, or its steps with the answer': reporting({
    seqOf: (n, tries) => 10 * n + tries,
  }),
  'ends the pass at a receipt with stop': reporting({ isStubborn: true }),
  'reports nothing more after a 410, and answers the pass': reporting({ isStubborn: true }),
  'takes an invoke without a version': door(({ headers }) => headers['x-engine-protocol'] === undefined),
  'refuses another version of the protocol with a 400': open,
  'takes what is signed with one of several keys': door(invoke => signatureOf(invoke).split('v1=').length > 2),
  'refuses what is not signed': open,
  'refuses what is signed with another key': open,
  'refuses a body that is not the signed one': open,
  'refuses a signature from more than 300 s ago, or ahead': open,
  'takes what is signed for it': door(invoke => signatureOf(invoke).includes('v2=')),
  'refuses what is signed for another runner, with a 5xx': open,
  'refuses a signature for itself that is not over this body': open,
}
