// The statements that execute a check or row operation for many units at once. Each is made from the shared SQL of one row.

import { fromParameters } from '../../description/placeholders.ts'
import { GUARD_CHECKS, type GuardCheck } from '../../write/guard-checks.ts'
import { MUST_CHANGE, NEWEST_POSITION, OPERATIONS } from '../../write/statements.ts'
import type { GroupedCheck, GroupedOperation } from './dependencies.ts'

/** The positions of the parameters in the array `a`, and their order. The list is in `plan`, after `q`. */
const ROWS = 'FROM unnest(plan[q + 1 : q + n]) WITH ORDINALITY AS s(p, o)'

/** Statements that clear `holds` unless all checks of the list at `q` hold. */
export function groupedCheck(name: GroupedCheck): string {
  return `      n := plan[q];
      IF n > 0 THEN
        PERFORM 1 ${ROWS} WHERE ${failing(GUARD_CHECKS[name])} LIMIT 1;
        IF FOUND THEN holds := false; END IF;
      END IF;
      q := q + n + 1;`
}

/** Statements that execute the operation for all rows of the list at `q`. */
export function groupedOperation(name: GroupedOperation): string {
  if (name === 'event.insert') return INSERT_EVENTS
  if (name === 'run.insert') return INSERT_RUNS
  const sql = OPERATIONS[name]
  const statement = sql.startsWith('UPDATE') ? updateAll(sql) : insertAll(sql)
  return listed(MUST_CHANGE.has(name) ? `${statement};${ALL_CHANGED(name)}` : `${statement};`)
}

function listed(statements: string): string {
  return `        n := plan[q];
        IF n > 0 THEN
          ${statements}
        END IF;
        q := q + n + 1;`
}

const ALL_CHANGED = (name: string) => `
          GET DIAGNOSTICS changed = ROW_COUNT;
          IF changed <> n THEN RAISE EXCEPTION '${name} met a row that it may not change, or none'; END IF;`

/**
 * The condition of a check that does not hold. A subquery in this place is executed for each row along its index; EXISTS
 * could become a join that reads a whole table.
 */
function failing({ expects, columns, from }: GuardCheck): string {
  const found = fromParameters(from)
  if (expects === 'none') return `(SELECT 1 FROM ${found}) IS NOT NULL`
  return `(SELECT ${columns[0]} FROM ${found})::text IS DISTINCT FROM a[p + ${from.split('?').length - 1}]`
}

/** Turns an insert of one row into one of all rows, in their order. */
function insertAll(sql: string): string {
  const [, head, values, conflict] = /^(INSERT INTO [^)]*\)) VALUES \((.*?)\) ?(ON CONFLICT.*)?$/s.exec(
    sql.replace(/\s+/g, ' ').trim(),
  ) as unknown as [string, string, string, string | undefined]
  return `${head} SELECT ${fromParameters(values)} ${ROWS} ORDER BY o ${conflict ?? ''}`
}

/**
 * Turns an update of one row, found by its first condition, into one of all rows. The list in the condition keeps the planner
 * from joins that read a whole table.
 */
function updateAll(sql: string): string {
  const at = sql.lastIndexOf(' WHERE ')
  const where = sql.slice(at).replace(/ WHERE (\w+) = \?/, ' WHERE $1 = ANY (ARRAY[?])')
  return fromParameters(`${sql.slice(0, at)} ${ROWS}${where}`)
}

/**
 * Collects the positions of the events. An event that exists already would leave a gap, and the runs after it need its position:
 * in that case the batch is written unit by unit.
 */
const INSERT_EVENTS = listed(`SELECT ${NEWEST_POSITION} INTO newest;
          WITH inserted AS (${insertAll(OPERATIONS['event.insert'])} RETURNING position)
          SELECT array_agg(position ORDER BY position) INTO positions FROM inserted;
          IF coalesce(array_length(positions, 1), 0) <> n THEN RAISE EXCEPTION 'an event exists already'; END IF;`)

/** After the list, for each run the number of the section's events that came before it: it looks back to the last of them. */
const INSERT_RUNS = `        n := plan[q];
        IF n > 0 THEN
          IF newest IS NULL THEN SELECT ${NEWEST_POSITION} INTO newest; END IF;
          ${insertAll(OPERATIONS['run.insert'].replace(`(SELECT ${NEWEST_POSITION})`, 'coalesce(positions[plan[q + n + o]], newest)'))};
        END IF;
        q := q + n + n + 1;`
