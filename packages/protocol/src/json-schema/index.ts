/** JSON Schemas of inputs: checks of the schema, and of values. */
export { SCHEMA_CHARS_MAX, type SchemaFault, schemaFault } from './fault.ts'
export type { JsonSchemaObject, Schema } from './schema.ts'
export { type PatternTest, SchemaTooComplex, schemaFaults } from './validate.ts'
