/** JSON Schemas of inputs: checks of the schema, and of values. */
export { SCHEMA_CHARS_MAX, type SchemaFault, schemaFault } from './fault.ts'
export type { JsonSchemaObject, Schema } from './schema.ts'
export {
  type PatternTest,
  referred,
  SchemaTooComplex,
  schemaFaults,
  type ValidationOptions,
  type ValueFault,
  valueFaults,
} from './validate.ts'
