// TypeScript types of the wire, derived from its schemas. The schemas are imported as types only, so a runner does not
// load them.

import type { Static } from 'typebox'
import type { AttributeChangesSchema, AttributesSchema } from './attributes-schema.ts'
import type { flowControlMembers } from './flow-control-schema.ts'
import type * as schema from './schema.ts'

export type RegisterRequest = Static<typeof schema.RegisterRequestSchema>
export type RegisterReply = Static<typeof schema.RegisterReplySchema>
export type WorkflowRegistration = Static<typeof schema.WorkflowRegistrationSchema>
/** The limits that steps of an app share, by name. */
export type StepLimits = NonNullable<RegisterRequest['limits']>
/** The members of a registration that are policies of flow control. */
export type FlowControlName = keyof typeof flowControlMembers
export type Trigger = Static<typeof schema.TriggerSchema>
export type RetryPolicy = Static<typeof schema.RetryPolicySchema>
export type StepError = Static<typeof schema.StepErrorSchema>
export type { ErrorCause } from './schema.ts'
export type LogLevel = Static<typeof schema.LogLevelSchema>
export type RunnerLogLine = Static<typeof schema.RunnerLogLineSchema>
export type Attributes = Static<typeof AttributesSchema>
export type AttributeChanges = Static<typeof AttributeChangesSchema>
export type Opcode = Static<typeof schema.OpcodeSchema>
export type OpcodeOf<Op extends Opcode['op']> = Extract<Opcode, { op: Op }>
export type InvokeContext = Static<typeof schema.InvokeContextSchema>
export type CleanupContext = Static<typeof schema.CleanupContextSchema>
export type FollowedStep = Static<typeof schema.FollowedStepSchema>
export type MemoEntry = Static<typeof schema.MemoEntrySchema>
export type InvokeRequest = Static<typeof schema.InvokeRequestSchema>

/** Scope of log lines that the handler writes outside any step. */
export const ROOT_SCOPE = '@root'
