// The plain values that cross between the store and a database: columns, rows and queries. Every file of the SQL store
// works with them.

/** A column's value, on its way in or out. */
export type Value = string | number | null
export type Row = Value[]

/** A read, in SQL that every dialect speaks, with `?` for its parameters. */
export interface Query {
  sql: string
  params: Value[]
}
