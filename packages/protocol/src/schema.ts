// Every schema: the wire between engine and runner, and the bodies of the HTTP API.

export * from './api/schema.ts'
export * from './connect/schema.ts'
export { AttributeChangesSchema, AttributesSchema } from './wire/attributes-schema.ts'
export { OPCODES_MAX } from './wire/bounds.ts'
export * from './wire/schema.ts'
export { StreamAckSchema, StreamAppendSchema } from './wire/stream-schema.ts'
