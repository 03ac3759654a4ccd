// The function that writes a batch of units inside PostgreSQL, made from the shared SQL. One call is one statement and one
// transaction: between its first lock and its commit nothing waits for the engine, so an engine that freezes in between
// blocks no other engine.
//
// Writers go one after the other, cluster-wide, under one advisory lock, which SQLite's single writer has for free. Every
// check then sees everything that was committed before and nothing half done, positions rise in commit order, and no two
// writers can deadlock. A batch contains the units of many callers, so the lock is taken once for hundreds of them.

import { createHash } from 'node:crypto'
import { fromParameters } from '../description/placeholders.ts'
import { GUARD_CHECKS, type GuardCheck } from '../write/guard-checks.ts'
import { MUST_CHANGE, OPERATIONS, type OperationName, WAKE } from '../write/statements.ts'
import { GROUPED_CHECKS, GROUPED_OPERATIONS, type GroupedCheck, type GroupedOperation } from './grouped/dependencies.ts'
import { groupedCheck, groupedOperation } from './grouped/operations.ts'
import { LIST_ELEMENTS } from './search-functions.ts'

/** Classes of this database's advisory locks; the second key names the schema. */
export const LOCKS = { migrate: 8_250_001, write: 8_250_002, use: 8_250_003 } as const

/** Takes the writers' lock of the schema until the transaction ends. */
export const TAKE_WRITE_LOCK = `pg_advisory_xact_lock(${LOCKS.write}, hashtext(current_schema()))`

/** Statements that set `failed` if the check does not hold; expected values follow the parameters. */
const CHECKERS: Record<GuardCheck['expects'], (check: GuardCheck) => string> = {
  none: ({ from }) => `        PERFORM 1 FROM ${fromParameters(from)};
        IF FOUND THEN failed := k; END IF;`,
  value: ({ columns: [column], from }) => `        value := NULL;
        SELECT s.${column}::text INTO value FROM (SELECT ${column} FROM ${fromParameters(from)}) AS s;
        IF value IS DISTINCT FROM a[p + params] THEN failed := k; END IF;`,
  // Rows as texts, in byte order.
  rows: ({ columns, from }) => {
    const row = columns.map(column => `q.${column}::text`).join(` || ' ' || `)
    const wanted = columns.map((_, i) => `a[w + ${i}]`).join(` || ' ' || `)
    return `        SELECT array_agg(s.t ORDER BY s.t COLLATE "C") INTO got
          FROM (SELECT ${row} AS t FROM (SELECT ${columns.join(', ')} FROM ${fromParameters(from)}) AS q) AS s;
        SELECT array_agg(s.t ORDER BY s.t COLLATE "C") INTO want FROM (SELECT ${wanted} AS t
          FROM generate_series(p + params, p + params + expected - 1, ${columns.length}) AS w) AS s;
        IF got IS DISTINCT FROM want THEN failed := k; END IF;`
  },
}

const UNIT_BY_UNIT = writeUnits()
const BODY = writeBody()

/** The name depends on the body, so that engines of two versions can run at the same time, each with its own function. */
export const WRITE_FUNCTION = `perdure_write_${createHash('sha256').update(BODY).digest('hex').slice(0, 12)}`

/**
 * `units`: for each unit the number of values of its request, then the request (`UnitRequest`) as texts. Returns for each unit 0
 * if it is written, or the position, from 1, of its first check that does not hold: then nothing of it is written. A writer gives
 * its batches rising numbers, and sends a batch again when the answer was lost. A batch is never written twice, even if an
 * earlier copy of it arrives late: it gets the same answer.
 */
export const CREATE_WRITE_FUNCTION = `CREATE OR REPLACE FUNCTION ${WRITE_FUNCTION}(
  writer text, batch bigint, units text[], plan int[])
RETURNS int[] LANGUAGE plpgsql AS $body$${BODY}$body$`

function writeBody(): string {
  return `
#variable_conflict use_column
DECLARE
  a text[] := units;
  p int;
  last int;
  unit_end int;
  checks int;
  k int;
  params int;
  expected int;
  name text;
  value text;
  got text[];
  want text[];
  failed int;
  changed bigint;
  q int := 1;
  next_section int;
  together int;
  n int;
  holds boolean;
  newest bigint;
  positions bigint[];
  answers int[] := '{}';
BEGIN
  PERFORM ${TAKE_WRITE_LOCK};
  SELECT w.answers INTO answers FROM writers AS w WHERE w.writer = $1 AND w.batch >= $2;
  IF FOUND THEN RETURN answers; END IF;
  answers := '{}';
  WHILE q < array_length(plan, 1) LOOP
    p := plan[q];
    last := plan[q + 1];
    together := plan[q + 2];
    next_section := q + plan[q + 3];
    q := q + 4;
    holds := together > 0;
    IF holds THEN
${(Object.keys(GROUPED_CHECKS) as GroupedCheck[]).map(groupedCheck).join('\n')}
      IF holds THEN
        newest := NULL;
        positions := NULL;
${(Object.keys(GROUPED_OPERATIONS) as GroupedOperation[]).map(groupedOperation).join('\n')}
        answers := answers || array_fill(0, ARRAY[together]);
      END IF;
    END IF;
    IF NOT holds THEN
${UNIT_BY_UNIT}
    END IF;
    q := next_section;
  END LOOP;
  INSERT INTO writers (writer, batch, answers) VALUES ($1, $2, answers)
    ON CONFLICT ON CONSTRAINT writers_pkey
    DO UPDATE SET batch = excluded.batch, answers = excluded.answers, at = now();
  RETURN answers;
END`
}

function operation(name: OperationName, sql: string): string {
  const statement = fromParameters(sql)
  if (!MUST_CHANGE.has(name)) return `${statement};`
  return `${statement};
          GET DIAGNOSTICS changed = ROW_COUNT;
          IF changed = 0 THEN RAISE EXCEPTION '${name} met no row it may change'; END IF;`
}

/** The loop that executes the checks and operations one after the other, from position `p` to `last`. */
function writeUnits(): string {
  return `  WHILE p <= last LOOP
    unit_end := p + a[p]::int;
    checks := a[p + 1]::int;
    p := p + 2;
    failed := 0;
    k := 0;
    WHILE k < checks LOOP
      k := k + 1;
      name := a[p];
      params := a[p + 1]::int;
      expected := a[p + 2]::int;
      p := p + 3;
      CASE name
${Object.entries(GUARD_CHECKS)
  .map(([name, check]) => `      WHEN '${name}' THEN\n${CHECKERS[check.expects](check)}`)
  .join('\n')}
      END CASE;
      EXIT WHEN failed > 0;
      p := p + params + expected;
    END LOOP;
    answers := answers || failed;
    IF failed = 0 THEN
      WHILE p <= unit_end LOOP
        params := a[p]::int;
        name := a[p + 1];
        p := p + 2;
        CASE name
${Object.entries(OPERATIONS)
  .map(
    ([name, sql]) =>
      `        WHEN '${name}' THEN ${operation(name as OperationName, sql.replaceAll('json_each(', `${LIST_ELEMENTS}(`))}`,
  )
  .join('\n')}
        WHEN 'step.wake' THEN
          ${fromParameters(WAKE.step)};
          IF FOUND THEN
            ${fromParameters(WAKE.frame, { from: WAKE.timeIndex })};
            ${fromParameters(WAKE.run, { from: WAKE.timeIndex })};
          END IF;
        END CASE;
        p := p + params;
      END LOOP;
    END IF;
    p := unit_end + 1;
  END LOOP;`
}
