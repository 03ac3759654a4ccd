/** JSON Schemas of inputs: checks of the schema, and of values. */
export * from './fault.ts'
export type { JsonSchemaObject, Schema } from './schema.ts'
export * from './validate.ts'
