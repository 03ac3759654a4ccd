// The constants and functions that engine and SDK need at run time, and every type. The schemas have their own entry,
// `@perdure/protocol/schema`, so that runners do not load them.

export * from './portable.ts'
export * from './signatures/invoke-signature.ts'
export * from './signatures/webhook-signature.ts'
export { hashStepId, positionalStepId } from './wire/step-id.ts'
